"""Records what OpenAI's own tiktoken says, for gen and for the tests of package token.

    pip install tiktoken==0.14.0
    python internal/gen/record.py          (in internal/core/token; takes some minutes)

It writes
  internal/gen/classes.txt   the class of every character, asked of tiktoken's regular expressions, and
  testdata/tiktoken.txt      checksums of the number of tokens of every character in several contexts,
                             and of 100,000 random strings.

The vocabularies come from gen (go run ./internal/gen -ranks DIR): they are not part of tiktoken's package.
"""
import json
import subprocess
import tempfile
import zlib
from pathlib import Path

import tiktoken
import tiktoken_ext.openai_public as public
from tiktoken.load import load_tiktoken_bpe

HERE = Path(__file__).parent
CHARS = [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000]
CONTEXTS = ["%", "a%b", "A%B", " %", "1%2", "%%'s ", "\u0301%A\n", "'%x", ".%\n", "% %\t", "\n%", "日%本"]
ATOMS = [
    "a", "b", "s", "t", "re", "ll", "the", "ing", " The", "A", "B", "S", "LL", "HTTP", "é", "ß", "Ж", "ж", "слово", " и", "ǅ", "ʰ", "ª",
    "中", "文字", "中国", "の", "か", "한", "국어", "العربية", " من", "हिन्दी", " में", "ภาษา", "ไทย", "ქართ",
    "\u0301", "\u0300\u0302", "\u200d", "\ufe0f", "ि", "1", "23", "456", "7890", "٣", "½", "Ⅷ", "²",
    " ", " ", "  ", "    ", "\t", "\n", "\n\n", "\r\n", "\r", "\v", "\f", "\u00a0", "\u3000", "\u2028", "\u0085",
    "'", "'s", "'S", "'re", "'Ll", "’s", "'ſ", ".", ",", "，", "。", "/", "//", "_", "-", "--", "===", "(", ")", "{", "}", ");", "<|endoftext|>", '"', "\\n",
    "\x00", "\x01", "\x7f", "\ufffd", "😀", "👩🏽", "❤️", "🇩🇪", "𝒳", "\U000e0041", "\U0010ffff", "\u1c89", "\U00010d50", "\U00016d43",
    "aaaaaaaa", "        ", "========", "\n\n\n\n\n\n\n\n", "zqxjkv", "abababab",
]
STRINGS, BLOCK = 100_000, 1000


def ranks(name):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["go", "run", "./internal/gen", "-ranks", folder], cwd=HERE.parent.parent, check=True)
        return load_tiktoken_bpe(str(Path(folder) / f"{name}.tiktoken"))


def encodings():
    public.load_tiktoken_bpe = lambda url, expected_hash=None: ranks(url.rsplit("/", 1)[1].removesuffix(".tiktoken"))
    return [tiktoken.Encoding(**public.cl100k_base()), tiktoken.Encoding(**public.o200k_base())]


def matched(pattern):
    """The characters that tiktoken's expressions match: those that an encoding of single bytes has tokens for."""
    bytes_only = tiktoken.Encoding(name="bytes", pat_str=pattern, mergeable_ranks={bytes([i]): i for i in range(256)}, special_tokens={})
    return set(bytes(bytes_only.encode_ordinary("".join(CHARS))).decode())


def classes():
    names = {"Upper": r"[\p{Lu}\p{Lt}]", "Lower": r"\p{Ll}", "OtherLetter": r"[\p{Lm}\p{Lo}]", "Mark": r"\p{M}", "Number": r"\p{N}", "Space": r"\s"}
    lines = [f"# Classes of characters in the expressions of tiktoken {tiktoken.__version__}. Written by record.py.\n"]
    for name, pattern in names.items():
        points = sorted(map(ord, matched(pattern)))
        first = last = points[0]
        for point in points[1:] + [None]:
            if point != last + 1 if point is not None else True:
                lines.append(f"{name} {first:04X} {last:04X}\n")
                first = point
            last = point
    (HERE / "classes.txt").write_text("".join(lines))


def random_strings():
    """Strings of 1 to 12 of 1 to 4 different atoms, by splitmix64 from 1 on."""
    state = 1

    def below(n):
        nonlocal state
        state = (state + 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF
        z = state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & 0xFFFFFFFFFFFFFFFF
        z = (z ^ z >> 27) * 0x94D049BB133111EB & 0xFFFFFFFFFFFFFFFF
        return (z ^ z >> 31) % n

    for _ in range(STRINGS):
        some = [ATOMS[below(len(ATOMS))] for _ in range(1 + below(4))]
        yield "".join(some[below(len(some))] for _ in range(1 + below(12)))


def checksum(encoding, texts):
    sums = b"".join(len(ids).to_bytes(2, "little") for ids in encoding.encode_ordinary_batch(texts, num_threads=1))
    return f"{zlib.crc32(sums):08x}"


def record():
    lines = [f"# Checksums of numbers of tokens by tiktoken {tiktoken.__version__}. Written by internal/gen/record.py.\n"]
    both = encodings()
    lines += [f"context {json.dumps(context)}\n" for context in CONTEXTS]
    lines += [f"atom {json.dumps(atom)}\n" for atom in ATOMS]
    for block in range(0, 0x110000, 0x400):
        if 0xD800 <= block < 0xE000:
            continue
        texts = [context.replace("%", chr(c)) for c in range(block, block + 0x400) for context in CONTEXTS]
        lines.append(f"characters {block:06x} {' '.join(checksum(e, texts) for e in both)}\n")
    strings = list(random_strings())
    for i in range(0, STRINGS, BLOCK):
        lines.append(f"strings {i} {' '.join(checksum(e, strings[i : i + BLOCK]) for e in both)}\n")
    (HERE.parent.parent / "testdata" / "tiktoken.txt").write_text("".join(lines))


if __name__ == "__main__":
    classes()
    record()

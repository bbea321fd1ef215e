"""Counts texts with toktok and quicktok, one thread, for BenchmarkRivals.

Each line of standard input is {"program", "encoding", "path", "fresh"}; each line of standard output has the tokens and
the seconds of processor time that one count took, or an error. "fresh" makes a new tokenizer for that count, which has
seen no text: both keep what they learned of texts. Making it is not timed.
"""
import json
import sys
import time

made, text = {}, {}


def counter(program, encoding):
    if program == "toktok":
        import toktok

        toktok._CACHE.clear()
        toktok._encoding(encoding)
        return lambda text: toktok.batch_count([text], encoding, threads=1)[0]
    import quicktok

    quicktok._CACHE.clear()
    tokenizer = quicktok.get_encoding(encoding)
    return tokenizer.count


for line in sys.stdin:
    try:
        ask = json.loads(line)
        key = ask["program"], ask["encoding"]
        if ask["fresh"] or key not in made:
            made[key] = counter(*key)
        if ask["path"] not in text:
            text = {ask["path"]: open(ask["path"], encoding="utf-8", newline="").read()}
        count, of = made[key], text[ask["path"]]
        start = time.thread_time()
        tokens = count(of)
        answer = {"seconds": time.thread_time() - start, "tokens": tokens}
    except Exception as error:
        answer = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(answer), flush=True)

package conversation

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"

	"github.com/ctxls/ctxls/internal/jsonscan"
)

// jpegHead bounds the search for the size of a JPEG: thumbnails, color profiles and camera data come before it.
const jpegHead = 256 << 10

// maxSide is the largest accepted width or height, in pixels. PNG and WebP can state more, but no provider accepts it.
const maxSide = 65_535

// imageSize reads width and height in pixels from the first bytes of a PNG, JPEG, GIF or WebP image.
func imageSize(head []byte) (width, height int, ok bool) {
	switch {
	case len(head) >= 24 && bytes.HasPrefix(head, []byte("\x89PNG\r\n\x1a\n")) && string(head[12:16]) == "IHDR":
		width, height = int(binary.BigEndian.Uint32(head[16:])), int(binary.BigEndian.Uint32(head[20:]))
	case len(head) >= 10 && (bytes.HasPrefix(head, []byte("GIF87a")) || bytes.HasPrefix(head, []byte("GIF89a"))):
		width, height = int(binary.LittleEndian.Uint16(head[6:])), int(binary.LittleEndian.Uint16(head[8:]))
	case len(head) >= 30 && string(head[:4]) == "RIFF" && string(head[8:12]) == "WEBP":
		width, height = webpSize(head)
	case isJPEG(head):
		width, height = jpegSize(head)
	}
	return width, height, 0 < width && width <= maxSide && 0 < height && height <= maxSide
}

// webpSize reads the three kinds of WebP: extended, lossless and lossy.
func webpSize(head []byte) (width, height int) {
	switch string(head[12:16]) {
	case "VP8X":
		return 1 + uint24(head[24:]), 1 + uint24(head[27:])
	case "VP8L":
		packed := binary.LittleEndian.Uint32(head[21:])
		return 1 + int(packed&0x3fff), 1 + int(packed>>14&0x3fff)
	case "VP8 ":
		return int(binary.LittleEndian.Uint16(head[26:]) & 0x3fff), int(binary.LittleEndian.Uint16(head[28:]) & 0x3fff)
	}
	return 0, 0
}

func uint24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }

func isJPEG(head []byte) bool { return bytes.HasPrefix(head, []byte{0xff, 0xd8, 0xff}) }

// jpegSize skips the segments up to the frame header, which has the size.
func jpegSize(head []byte) (width, height int) {
	for i := 2; i+9 <= len(head) && head[i] == 0xff; {
		switch marker := head[i+1]; {
		case marker == 0xff: // fill
			i++
		case marker == 0x01 || 0xd0 <= marker && marker <= 0xd8: // no length
			i += 2
		case 0xc0 <= marker && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc:
			return int(binary.BigEndian.Uint16(head[i+7:])), int(binary.BigEndian.Uint16(head[i+5:]))
		default:
			i += 2 + int(binary.BigEndian.Uint16(head[i+2:]))
		}
	}
	return 0, 0
}

// media is content other than text: an image, a document, a recording.
type media struct {
	mime   string // "" is unknown
	data   []byte // base64, nil if it is elsewhere (a URL, an uploaded file)
	detail string // OpenAI's "low", "high", "auto" or "original"
}

// dataURL reads a data: URL. For any other URL, and a data: URL without base64, the media has no data.
func dataURL(v jsonscan.Value) media {
	rest, ok := bytes.CutPrefix(v.Plain(), []byte("data:"))
	head, data, comma := bytes.Cut(rest, []byte(","))
	head, encoded := bytes.CutSuffix(head, []byte(";base64"))
	if !ok || !comma || !encoded {
		return media{}
	}
	mime, _, _ := bytes.Cut(head, []byte(";"))
	return media{mime: string(mime), data: data}
}

// size returns the approximate decoded size of the data, in bytes.
func (m media) size() int { return len(m.data) * 3 / 4 }

// head decodes the first n bytes of the data, or fewer if it is shorter or broken.
func (m media) head(n int) []byte {
	// The alphabet for URLs is accepted, too, since some clients write it. Line breaks are skipped.
	encoded := make([]byte, 0, min(len(m.data), n/3*4+4))
	for i := 0; i < len(m.data) && len(encoded) < cap(encoded); i++ {
		switch c := m.data[i]; c {
		case '-':
			encoded = append(encoded, '+')
		case '_':
			encoded = append(encoded, '/')
		case '=', ' ', '\r', '\n':
		default:
			encoded = append(encoded, c)
		}
	}
	decoded := make([]byte, base64.RawStdEncoding.DecodedLen(len(encoded)))
	got, _ := base64.RawStdEncoding.Decode(decoded, encoded)
	return decoded[:min(got, n)]
}

// imageSize reads the size of an image from its data, and decodes no more than needed.
func (m media) imageSize() (width, height int, ok bool) {
	head := m.head(64)
	if isJPEG(head) {
		head = m.head(jpegHead)
	}
	return imageSize(head)
}

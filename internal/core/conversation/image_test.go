package conversation

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"regexp"
	"strings"
	"testing"

	"github.com/ctxls/ctxls/internal/jsonscan"
)

// picture encodes a blank picture in a real file format.
func picture(t testing.TB, format string, width, height int) []byte {
	t.Helper()
	var buf bytes.Buffer
	img := image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.Black, color.White})
	var err error
	switch format {
	case "png":
		err = png.Encode(&buf, img)
	case "gif":
		err = gif.Encode(&buf, img, nil)
	case "jpeg":
		err = jpeg.Encode(&buf, img, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// withSegment inserts an application segment at the start of a JPEG, as cameras do.
func withSegment(file []byte, size int) []byte {
	segment := append([]byte{0xff, 0xd8, 0xff, 0xe1, byte(size >> 8), byte(size)}, make([]byte, size-2)...)
	return append(segment, file[2:]...)
}

func b64(file []byte) string { return base64.StdEncoding.EncodeToString(file) }

// webp builds the header of a WebP file by its specification (RFC 9649).
func webp(chunk string, payload ...byte) []byte {
	head := append([]byte("RIFF\x00\x00\x00\x00WEBP"+chunk+"\x00\x00\x00\x00"), payload...)
	return append(head, make([]byte, 32)...)
}

func TestImageSize(t *testing.T) {
	lossy := binary.LittleEndian.AppendUint16([]byte{0, 0, 0, 0x9d, 0x01, 0x2a}, 1<<14|300) // the top bits are a scale
	lossy = binary.LittleEndian.AppendUint16(lossy, 200)
	lossless := binary.LittleEndian.AppendUint32([]byte{0x2f}, uint32(301-1|(202-1)<<14))
	decode := func(s string) []byte {
		b, err := base64.StdEncoding.DecodeString(s)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, tt := range []struct {
		name          string
		file          []byte
		width, height int // 0: unreadable
	}{
		{"png", picture(t, "png", 640, 480), 640, 480},
		{"gif", picture(t, "gif", 33, 44), 33, 44},
		{"jpeg", picture(t, "jpeg", 1025, 7), 1025, 7},
		{"jpeg with camera data", withSegment(withSegment(picture(t, "jpeg", 320, 240), 65_000), 65_000), 320, 240},
		{"jpeg with fill bytes", append([]byte{0xff, 0xd8, 0xff, 0xff, 0xff, 0xd0}, picture(t, "jpeg", 5, 6)[2:]...), 5, 6},
		{"jpeg with its size too far away", withSegment(withSegment(withSegment(withSegment(withSegment(picture(t, "jpeg", 9, 9), 65_000), 65_000), 65_000), 65_000), 65_000), 0, 0},
		{"jpeg cut short", picture(t, "jpeg", 9, 9)[:30], 0, 0},
		{"lossy webp", webp("VP8 ", lossy...), 300, 200},
		{"lossless webp", webp("VP8L", lossless...), 301, 202},
		{"extended webp", webp("VP8X", 0x10, 0, 0, 0, 0x2e, 0x01, 0x00, 0xcb, 0x00, 0x00), 303, 204},
		{"unknown webp", webp("VP9 ", lossy...), 0, 0},
		// The three files from Google's WebP documentation for detecting a browser's support.
		{"a real lossy webp", decode("UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA"), 1, 1},
		{"a real lossless webp", decode("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA=="), 1, 1},
		{"a real animated webp", decode("UklGRlIAAABXRUJQVlA4WAoAAAASAAAAAAAAAAAAQU5JTQYAAAD/////AABBTk1GJgAAAAAAAAAAAAAAAAAAAGQAAABWUDhMDQAAAC8AAAAQBxAREYiI/gcA"), 1, 1},
		{"a size nobody has", append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR"), 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 1), 0, 0},
		{"no size at all", append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR"), make([]byte, 8)...), 0, 0},
		{"text", []byte("hello there, this is no picture at all"), 0, 0},
		{"nothing", nil, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for encoding, data := range map[string]string{
				"standard":       b64(tt.file),
				"of URLs":        base64.RawURLEncoding.EncodeToString(tt.file),
				"escaped slash":  strings.ReplaceAll(b64(tt.file), "/", `\/`),
				"with new lines": strings.ReplaceAll(b64(tt.file), "A", `A\r\n`),
				"escaped plus":   strings.ReplaceAll(b64(tt.file), "+", `\u002B`), // as .NET writes it
				"all escaped":    regexp.MustCompile(`.`).ReplaceAllStringFunc(b64(tt.file), func(c string) string { return fmt.Sprintf(`\u%04x`, c[0]) }),
			} {
				quoted := []byte(`"` + data + `"`)
				width, height, ok := media{data: jsonscan.Value{Doc: quoted, Lo: 0, Hi: len(quoted)}.Plain()}.imageSize()
				if !ok {
					width, height = 0, 0
				}
				if width != tt.width || height != tt.height {
					t.Errorf("%s: got %d × %d, want %d × %d", encoding, width, height, tt.width, tt.height)
				}
			}
		})
	}
}

// Figures that vendors publish, or that were measured with their services.
func TestImageTokens(t *testing.T) {
	for _, tt := range []struct {
		provider, model string
		width, height   int
		detail          string
		want            int
	}{
		{"anthropic", "", 256, 256, "", 100},
		{"", "claude-sonnet-4-5", 1024, 1024, "", 1369},
		{"", "claude-3-5-sonnet-20241022", 1280, 720, "", 1196},
		{"", "claude-opus-4-20250514", 1920, 1080, "", 1568}, // at most
		{"", "claude-opus-4-7", 1920, 1080, "", 2691},
		{"amazon-bedrock", "eu.anthropic.claude-sonnet-5-v1:0", 1920, 1080, "", 2691},
		{"", "claude-opus-5.5", 8000, 8000, "", 4784},
		{"anthropic", "", 10_000, 28, "", 56}, // scaled down to 1568 × 4
		{"", "gpt-5.4", 1024, 1024, "", 1229},
		{"", "openai/gpt-5.5", 1920, 1080, "high", 2448},
		{"", "gpt-6", 8000, 8000, "high", 3000},
		{"", "gpt-6", 8000, 8000, "auto", 12_000},
		{"", "gpt-5.4", 4000, 4000, "low", 308},
		{"", "gpt-4.1-mini", 1024, 1024, "", 1659},
		{"", "gpt-4.1-nano", 4000, 4000, "", 3779},
		{"", "o4-mini", 1024, 1024, "", 1762},
		{"", "gpt-4o", 1024, 1024, "", 765},
		{"", "gpt-4o", 2048, 4096, "high", 1105},
		{"", "gpt-4o", 4096, 8192, "low", 85},
		{"", "gpt-4o-mini", 1024, 1024, "", 2833 + 4*5667},
		{"", "gpt-4.1", 512, 512, "", 255},
		{"", "gpt-5", 1024, 1024, "", 70 + 4*140},
		{"", "gpt-5-codex", 512, 512, "", 210},
		{"", "o3", 512, 512, "", 225},
		{"azure", "my-deployment", 512, 512, "", 255},
		{"google", "", 768, 768, "", 258},
		{"", "gemini-2.5-pro", 1024, 1024, "", 1032},
		{"", "gemini-3-pro", 1024, 1024, "", 1120},
		{"google-vertex", "claude-opus-4-5@20251101", 256, 256, "", 100},
		{"github-copilot", "gpt-4o", 512, 512, "", 255},
	} {
		if got := imageRuleFor(tt.provider, tt.model).tokens(tt.width, tt.height, tt.detail); got != tt.want {
			t.Errorf("%s %s, %d × %d %s: got %d, want %d", tt.provider, tt.model, tt.width, tt.height, tt.detail, got, tt.want)
		}
	}
}

func TestMeasureMedia(t *testing.T) {
	pic := b64(picture(t, "png", 256, 512))
	file := strings.Repeat("AAAA", 30_000) // 90,000 bytes
	for _, tt := range []struct {
		name, message string
		want          int
		exact         bool
	}{
		{"Anthropic", `{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + pic + `"}}]}`, 10 * 19, false},
		{"Anthropic by URL", `{"role":"user","content":[{"type":"image","source":{"type":"url","url":"https://example.com/a.png"}}]}`, 1369, false},
		{"in a tool result", `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + pic + `"}}]}]}`, 190, false},
		{"OpenAI", `{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,` + pic + `"}}]}`, 85 + 170, false},
		{"OpenAI, slash escaped", `{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image\/png;base64,` + pic + `","detail":"low"}}]}`, 85, false},
		{"OpenAI by URL", `{"role":"user","content":[{"type":"input_image","image_url":"https://example.com/a.png"}]}`, 765, false},
		{"OpenAI by file", `{"role":"user","content":[{"type":"input_image","file_id":"file-1"}]}`, 765, false},
		{"OpenAI, data that is no image", `{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,aGVsbG8="}}]}`, 765, false},
		{"Gemini", `{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"` + pic + `"}}]}`, 258, false},
		{"Gemini by URI", `{"role":"user","parts":[{"file_data":{"mime_type":"image/jpeg","file_uri":"gs://a/b"}}]}`, 4 * 258, false},
		{"Gemini sound", `{"role":"user","parts":[{"inlineData":{"mimeType":"audio/mp3","data":"` + file + `"}}]}`, 6 * 32, false},
		{"OpenCode", `{"info":{"role":"user"},"parts":[{"type":"file","mime":"image/png","url":"data:image/png;base64,` + pic + `"}]}`, 190, false},
		{"a PDF", `{"role":"user","content":[{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"` + file + `"}}]}`, 2 * 2000, false},
		{"a PDF by URL", `{"role":"user","content":[{"type":"document","source":{"type":"url","url":"https://example.com/a.pdf"}}]}`, 2000, false},
		{"a PDF, OpenAI's way", `{"role":"user","content":[{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,` + file + `"}}]}`, count("a.pdf") + 4000, false},
		{"a file somewhere", `{"role":"user","content":[{"type":"input_file","file_id":"file-1"}]}`, 2000, false},
		{"an SVG that is not base64", `{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/svg+xml,<svg/>"}}]}`, 765, false},
		{"a JSON file", `{"role":"user","content":[{"type":"file","file":{"file_data":"data:application/json;charset=utf-8;base64,eyJhIjoxfQ=="}}]}`, count(`{"a":1}`), true},
	} {
		got := mustMeasure(t, MeasureRequest{Conversation: conversation(tt.message)})
		if got.Tokens != tt.want || got.Exact != tt.exact {
			t.Errorf("%s: got %d tokens, exact %v; want %d, %v", tt.name, got.Tokens, got.Exact, tt.want, tt.exact)
		}
	}
}

// Another model changes the count of the same message, also of a message that was counted before.
func TestMeasureMediaByModel(t *testing.T) {
	meter := testMeter()
	c := conversation(fmt.Sprintf(`{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":%q}}]}`, b64(picture(t, "png", 1920, 1080))))
	for range 2 {
		for model, want := range map[string]int{"": 1568, "claude-sonnet-4-5": 1568, "claude-opus-4-8": 2691, "gpt-5.5": 2448, "gemini-3-pro": 1120} {
			c.Model = model
			got, err := meter.Measure(MeasureRequest{Conversation: c})
			if err != nil || got.Tokens != want {
				t.Errorf("%q: got %d, %v; want %d", model, got.Tokens, err, want)
			}
		}
	}
}

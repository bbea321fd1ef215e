package conversation

import (
	"math"
	"strings"
)

// form is the shape in which media came. It stands in for the provider where neither provider nor model is named.
type form byte

const (
	formAnthropic form = iota
	formOpenAI
	formGemini
)

// imageRule is how a provider charges for an image. The zero value is an unknown provider.
type imageRule struct {
	kind imageKind
	// kindGrid and kindPatches: a patch is side × side pixels, an image has at most maxPatches, and one patch costs
	// hundredths/100 tokens. A grid image is first scaled down to maxSide pixels.
	side, maxSide, maxPatches, hundredths int
	// kindTiles: base + tile tokens for each tile.
	base, tile int
}

type imageKind byte

const (
	kindUnnamed imageKind = iota
	kindGrid              // Anthropic
	kindPatches           // OpenAI, newer and small models
	kindTiles             // OpenAI, others
	kindGemini            // Google, 2.x
	kindFlat              // Google, 3 and later: base tokens
)

// The published formulas.
//
// Anthropic (docs "Vision"): ⌈w/28⌉·⌈h/28⌉ after scaling down to 1568 pixels and 1,568 tokens, or to 2576 pixels and 4,784
// tokens from Opus 4.7 and Sonnet 5 on. OpenAI (docs "Images and vision"): 32-pixel patches times a factor of the model,
// or 512-pixel tiles. Google (docs "Understand and count tokens"): 258 tokens for each 768-pixel tile, and 1,120 an image
// from Gemini 3 on.
var (
	claudeStandard = imageRule{kind: kindGrid, side: 28, maxSide: 1568, maxPatches: 1568}
	claudeHigh     = imageRule{kind: kindGrid, side: 28, maxSide: 2576, maxPatches: 4784}

	gptPatches = imageRule{kind: kindPatches, side: 32, maxPatches: 10_000, hundredths: 120}
	gptMini    = imageRule{kind: kindPatches, side: 32, maxPatches: 1536, hundredths: 162}
	gptNano    = imageRule{kind: kindPatches, side: 32, maxPatches: 1536, hundredths: 246}
	o4Mini     = imageRule{kind: kindPatches, side: 32, maxPatches: 1536, hundredths: 172}
	gpt4o      = imageRule{kind: kindTiles, base: 85, tile: 170}
	gpt4oMini  = imageRule{kind: kindTiles, base: 2833, tile: 5667}
	gpt5       = imageRule{kind: kindTiles, base: 70, tile: 140}
	oSeries    = imageRule{kind: kindTiles, base: 75, tile: 150}

	geminiTiles = imageRule{kind: kindGemini, tile: 258}
	geminiFlat  = imageRule{kind: kindFlat, base: 1120}
)

// maxPatchesHigh is OpenAI's bound where the request asks for detail "high", maxPatchesLow where it asks for "low" (a
// picture of 512 × 512).
const maxPatchesHigh, maxPatchesLow = 2500, 256

// imageRuleFor chooses by the model where its name says whose it is (the same model is served by many), else by the
// provider.
func imageRuleFor(provider, model string) imageRule {
	model, provider = strings.ToLower(model), strings.ToLower(provider)
	has := func(part string) bool { return strings.Contains(model, part) }
	switch {
	case has("claude"):
		return claudeRule(model)
	case has("gemini"):
		if version(model, "gemini") >= 3 {
			return geminiFlat
		}
		return geminiTiles
	case has("gpt-4o-mini"):
		return gpt4oMini
	case has("o4-mini"):
		return o4Mini
	case has("gpt-"):
		return gptRule(version(model, "gpt"), model)
	case strings.HasPrefix(model, "o1") || strings.HasPrefix(model, "o3") || has("/o1") || has("/o3"):
		return oSeries
	}
	for _, p := range []struct {
		name string
		rule imageRule
	}{{"anthropic", claudeStandard}, {"openai", gpt4o}, {"azure", gpt4o}, {"google", geminiTiles}, {"gemini", geminiTiles}} {
		if strings.Contains(provider, p.name) {
			return p.rule
		}
	}
	return imageRule{}
}

func claudeRule(model string) imageRule {
	if version(model, "opus") >= 4.7 || version(model, "sonnet") >= 5 || version(model, "fable") >= 5 || version(model, "mythos") >= 5 {
		return claudeHigh
	}
	return claudeStandard
}

func gptRule(v float64, model string) imageRule {
	switch {
	case v > 4 && strings.Contains(model, "nano"):
		return gptNano
	case v > 4 && strings.Contains(model, "mini"):
		return gptMini
	case v >= 5.4:
		return gptPatches
	case v >= 5:
		return gpt5
	}
	return gpt4o
}

// version reads the number that follows a family's name, as in opus-4-7, gpt-5.4 and gemini-2.5; 0 where there is none. A
// date is no minor version.
func version(model, family string) float64 {
	_, rest, found := strings.Cut(model, family)
	if !found {
		return 0
	}
	major, rest := leadingNumber(strings.TrimLeft(rest, "-_ "))
	if rest == "" || rest[0] != '-' && rest[0] != '.' {
		return float64(major)
	}
	minor, _ := leadingNumber(rest[1:])
	return float64(major) + float64(minor)/10
}

// leadingNumber reads at most two digits; a longer number, such as a date, counts as none.
func leadingNumber(s string) (n int, rest string) {
	end := 0
	for end < len(s) && '0' <= s[end] && s[end] <= '9' {
		end++
	}
	if end > 2 {
		return 0, s[end:]
	}
	for _, c := range s[:end] {
		n = n*10 + int(c-'0')
	}
	return n, s[end:]
}

// tokens returns what an image of width × height pixels costs.
func (rule imageRule) tokens(width, height int, detail string) int {
	w, h := float64(width), float64(height)
	switch rule.kind {
	case kindGrid:
		scale := min(1, float64(rule.maxSide)/max(w, h))
		return min(cells(w*scale, h*scale, rule.side), rule.maxPatches)
	case kindPatches:
		limit := rule.maxPatches
		switch detail {
		case "high":
			limit = min(limit, maxPatchesHigh)
		case "low":
			limit = maxPatchesLow
		}
		return (min(cells(w, h, rule.side), limit)*rule.hundredths + 99) / 100
	case kindTiles:
		if detail == "low" {
			return rule.base
		}
		scale := min(1, 2048/max(w, h))
		scale *= min(1, 768/(min(w, h)*scale))
		return rule.base + rule.tile*cells(w*scale, h*scale, 512)
	case kindGemini:
		return rule.tile * cells(w, h, 768)
	}
	return rule.base
}

// cells returns how many squares of the given side cover a picture. Scaling leaves a hair above whole numbers, which is no
// square of its own.
func cells(w, h float64, side int) int {
	cover := func(length float64) int { return max(1, int(math.Ceil(length/float64(side)-1e-9))) }
	return cover(w) * cover(h)
}

// What stands in where the data does not say. An image that cannot be read, or is elsewhere, counts as one of 1024 × 1024.
// A document counts 2,000 tokens a page (Anthropic's docs "PDF support" give 1,500 to 3,000 for the text of a page), one
// page for each 50,000 bytes begun, at least one. Sound and moving pictures count 32 tokens a second (Google's figure for
// audio) at 16,000 bytes a second, at least one second.
const (
	unreadableSide    = 1024
	pageTokens        = 2000
	pageBytes         = 50_000
	audioSecondTokens = 32
	audioBytesASecond = 16_000
)

// media counts an image, a document or a recording. Files of text count as their text.
func (r *reader) media(m media, form form) {
	width, height, isImage := m.imageSize()
	switch {
	case isImage || strings.HasPrefix(m.mime, "image/"):
		if !isImage {
			width, height = unreadableSide, unreadableSide
		}
		rule := r.images
		if rule.kind == kindUnnamed {
			rule = [...]imageRule{formAnthropic: claudeStandard, formOpenAI: gpt4o, formGemini: geminiTiles}[form]
		}
		r.estimate(rule.tokens(width, height, m.detail))
	case m.data != nil && isTextual(m.mime):
		r.add(string(m.head(m.size() + 3)))
	case strings.HasPrefix(m.mime, "audio/") || strings.HasPrefix(m.mime, "video/"):
		r.estimate(audioSecondTokens * max(1, (m.size()+audioBytesASecond-1)/audioBytesASecond))
	default:
		r.estimate(pageTokens * max(1, (m.size()+pageBytes-1)/pageBytes))
	}
}

func isTextual(mime string) bool {
	return strings.HasPrefix(mime, "text/") || mime == "application/json" || mime == "application/xml"
}

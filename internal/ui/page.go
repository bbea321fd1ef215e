package ui

import (
	"crypto/sha256"
	_ "embed" // the page's parts
	"encoding/base64"
	"encoding/json"
	"io"
	"strings"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/text"
)

// The parts of the page: its HTML with placeholders for the others, its style and its script.
var (
	//go:embed page/page.html
	pageFrame string
	//go:embed page/page.css
	pageStyle string
	//go:embed page/page.js
	pageScript string
)

// PageSession is one session on the page.
type PageSession struct {
	core.SessionDetail
	Samples []session.Sample
}

// maxPageSamples bounds the points of a session's history in the page; no plot is wider.
const maxPageSamples = 600

// Page writes the report as one HTML page that contains its style, script and data. Its content security policy forbids all requests.
func Page(w io.Writer, r core.FleetReport, sessions []PageSession, now time.Time) error {
	data, err := json.Marshal(pageData(r, sessions, now)) // which writes <, > and & as \u003c and the like
	if err != nil {
		return err
	}
	_, err = strings.NewReplacer(
		"{{csp}}", "default-src 'none'; style-src "+hashOf(pageStyle)+"; script-src "+hashOf(pageScript)+"; base-uri 'none'; form-action 'none'",
		"{{style}}", pageStyle, "{{script}}", pageScript, "{{data}}", string(data),
	).WriteString(w, pageFrame)
	return err
}

// hashOf returns the source expression of an inline part for a content security policy.
func hashOf(part string) string {
	sum := sha256.Sum256([]byte(part))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// pageJSON is the data for the page's script.
type pageJSON struct {
	Now        time.Time          `json:"now"`
	Report     core.FleetReport   `json:"report"`
	Sessions   []pageSession      `json:"sessions"`
	Categories []session.Category `json:"categories"`
	Names      map[string]string  `json:"names"` // of the categories
}

type pageSession struct {
	core.SessionDetail
	Project string       `json:"project"`
	Samples [][2]float64 `json:"samples"` // milliseconds since 1970, tokens
	Marks   []int64      `json:"marks"`   // when it was compacted, in milliseconds
}

func pageData(r core.FleetReport, sessions []PageSession, now time.Time) pageJSON {
	data := pageJSON{Now: now, Report: r, Sessions: []pageSession{}, Categories: session.Categories, Names: map[string]string{}}
	for category, name := range categoryNames {
		data.Names[string(category)] = name
	}
	for _, s := range sessions {
		p := pageSession{SessionDetail: s.SessionDetail, Project: projectOf(s.SessionView), Samples: [][2]float64{}, Marks: []int64{}}
		p.CWD, p.SessionID = text.Sanitize(p.CWD, 0), text.Sanitize(p.SessionID, 0)
		for _, sample := range thin(s.Samples, maxPageSamples) {
			p.Samples = append(p.Samples, [2]float64{float64(sample.At.UnixMilli()), float64(sample.Tokens)})
		}
		for _, sample := range s.Samples {
			if sample.Kind == session.SampleCompaction {
				p.Marks = append(p.Marks, sample.At.UnixMilli())
			}
		}
		data.Sessions = append(data.Sessions, p)
	}
	return data
}

// thin reduces samples to about most and keeps the shape of the curve: the lowest and the highest of each stretch, and the first and
// the last sample.
func thin(samples []session.Sample, most int) []session.Sample {
	if len(samples) <= most {
		return samples
	}
	thinned := []session.Sample{samples[0]}
	stretches := most/2 - 1
	inner := samples[1 : len(samples)-1]
	for i := range stretches {
		stretch := inner[i*len(inner)/stretches : (i+1)*len(inner)/stretches]
		low, high := 0, 0
		for j, s := range stretch {
			if s.Tokens < stretch[low].Tokens {
				low = j
			}
			if s.Tokens > stretch[high].Tokens {
				high = j
			}
		}
		thinned = append(thinned, stretch[min(low, high)])
		if low != high {
			thinned = append(thinned, stretch[max(low, high)])
		}
	}
	return append(thinned, samples[len(samples)-1])
}

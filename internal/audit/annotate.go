package audit

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ctxls/ctxls/internal/contextfiles"
	"github.com/ctxls/ctxls/internal/core/text"
)

// maxMessage bounds a message in characters: it may quote a path of any length.
const maxMessage = 500

// SARIF writes the findings in SARIF 2.1.0 (https://docs.oasis-open.org/sarif/sarif/v2.1.0). Files below the audited directory are named from there.
func SARIF(w io.Writer, r *AuditReport, version string) error {
	type object = map[string]any
	rules, results := map[contextfiles.Code]object{}, []object{}
	for _, f := range r.Findings {
		rules[f.Code] = object{"id": f.Code, "helpUri": f.URL, "shortDescription": object{"text": strings.ReplaceAll(string(f.Code), "-", " ")}}
		location := object{"uri": r.uri(f.Path)}
		if !filepath.IsAbs(r.relative(f.Path)) {
			location["uriBaseId"] = "%SRCROOT%"
		}
		results = append(results, object{
			"ruleId": f.Code, "level": "warning",
			"message": object{"text": contextfiles.Titles[f.Host] + ": " + f.Message},
			"locations": []object{{"physicalLocation": object{
				"artifactLocation": location,
				"region":           object{"startLine": f.Start.Line, "startColumn": f.Start.Column, "endLine": f.End.Line, "endColumn": f.End.Column},
			}}},
		})
	}
	listed := []object{}
	for _, code := range slices.Sorted(maps.Keys(rules)) {
		listed = append(listed, rules[code])
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(object{
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
		"runs": []object{{
			"tool":               object{"driver": object{"name": "ctxls", "version": version, "informationUri": "https://github.com/ctxls/ctxls", "rules": listed}},
			"columnKind":         "utf16CodeUnits",
			"originalUriBaseIds": object{"%SRCROOT%": object{"uri": "file://" + escaped(slashed(r.Dir)) + "/"}},
			"results":            results,
		}},
	})
}

// GitHub writes the findings as annotations of a GitHub Actions run.
func GitHub(w io.Writer, r *AuditReport) error {
	for _, f := range r.Findings {
		_, err := fmt.Fprintf(w, "::warning file=%s,line=%d,col=%d,endLine=%d,endColumn=%d,title=%s::%s\n", property(r.relative(f.Path)), f.Start.Line, f.Start.Column,
			f.End.Line, f.End.Column, property("ctxls "+string(f.Code)), data(contextfiles.Titles[f.Host]+": "+f.Message))
		if err != nil {
			return err
		}
	}
	return nil
}

// data escapes the text of a command of GitHub Actions, property the value of one of its properties.
func data(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func property(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(data(text.Sanitize(s, 0)))
}

// relative returns a path as seen from the audited directory, slashed; one that lies elsewhere stays absolute.
func (r *AuditReport) relative(path string) string {
	if rel, err := filepath.Rel(r.Dir, path); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return filepath.ToSlash(rel)
	}
	return path
}

// uri returns a path as a reference of a URI.
func (r *AuditReport) uri(path string) string {
	rel := r.relative(path)
	if filepath.IsAbs(rel) {
		return "file://" + escaped(slashed(rel))
	}
	return escaped(rel)
}

func slashed(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return path
}

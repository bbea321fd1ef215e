//go:build linux && e2e

package e2e

import "slices"

// Rewrite copies a JSON value, so that the requests of two runs can be compared: each string as text returns it, each list as list
// returns it once its members are rewritten, and objects without the members named.
func Rewrite(v any, text func(string) string, list func([]any) any, without ...string) any {
	switch v := v.(type) {
	case string:
		return text(v)
	case []any:
		kept := make([]any, len(v))
		for i, member := range v {
			kept[i] = Rewrite(member, text, list, without...)
		}
		return list(kept)
	case map[string]any:
		kept := map[string]any{}
		for name, member := range v {
			if !slices.Contains(without, name) {
				kept[name] = Rewrite(member, text, list, without...)
			}
		}
		return kept
	}
	return v
}

// WithoutEmptyTexts drops the blocks of text in which nothing is left.
func WithoutEmptyTexts(blocks []any) []any {
	return slices.DeleteFunc(blocks, func(block any) bool {
		b, ok := block.(map[string]any)
		return ok && b["text"] == "" && (len(b) == 1 || b["type"] == "text")
	})
}

// Gauge is what ctxls knows of a session: tokens of the last response, and the files in use in order of their names.
type Gauge struct {
	Tokens int
	Files  []string
}

// Gauges returns the gauges of all sessions by their IDs.
func (w *Sandbox) Gauges() map[string]Gauge {
	w.T.Helper()
	gauges := map[string]Gauge{}
	for _, s := range w.Sessions() {
		slices.Sort(s.WorkingSet)
		gauges[s.SessionID] = Gauge{w.Tokens(s.SessionID), s.WorkingSet}
	}
	return gauges
}

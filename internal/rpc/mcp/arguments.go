package mcp

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/text"
	"github.com/ctxls/ctxls/internal/jsonscan"
)

// argument describes one argument of a tool: its destination, and what is expected.
type argument struct {
	into     any // a pointer, as for json.Unmarshal
	expected string
}

// decode reads the arguments of a call. null is the same as absent. An unknown argument is an error, since a model that misspells one
// would take the answer for what it asked.
func decode(raw json.RawMessage, known map[string]argument) error {
	given := map[string]json.RawMessage{}
	if len(raw) > 0 && json.Unmarshal(raw, &given) != nil {
		return coded.Field("arguments", "expected an object")
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		a, ok := known[name]
		switch {
		case !ok && len(known) == 0:
			return coded.Field(text.Sanitize(name, 60), "there is no such argument; the tool takes none")
		case !ok:
			return coded.Field(text.Sanitize(name, 60), "there is no such argument; expected one of %s", strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		case string(given[name]) == "null":
		case json.Unmarshal(whole(given[name]), a.into) != nil:
			return coded.Field(name, "expected %s, got %s", a.expected, text.Sanitize(string(given[name]), 60))
		}
	}
	return nil
}

// whole writes 2.0 as 2. A schema and many models treat them as the same number, but json.Unmarshal does not.
func whole(raw json.RawMessage) json.RawMessage {
	if number, ok := jsonscan.Integer(raw); ok {
		return strconv.AppendInt(nil, number, 10)
	}
	return raw
}

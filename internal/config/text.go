package config

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	coretext "github.com/ctxls/ctxls/internal/core/text"
	"github.com/tailscale/hujson"
)

// envPrefix is the prefix of every variable that ctxls uses.
const envPrefix = "CTXLS_"

// envLayer returns the settings in the environment, or nil if there are none. A variable with a bad value is reported
// and ignored alone: variables are set in many places, and an error in one does not affect the others. An unknown name
// is reported only if it resembles a setting, since other CTXLS_ names may belong to a script or a plugin.
func envLayer(env []string) *layer {
	var l *layer
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, envPrefix) || value == "" {
			continue
		}
		if l == nil {
			l = &layer{name: "environment"}
		}
		i := slices.IndexFunc(fields().leaves(), func(f *field) bool { return EnvName(f.key) == name })
		if i < 0 {
			l.warnUnknownVariable(name)
			continue
		}
		f := fields().leaves()[i]
		one := textLayer(name, f, value)
		if !one.bad {
			l.settings = append(l.settings, one.settings...)
		}
		for _, p := range one.problems {
			l.add(Problem{Key: f.key, Message: ignoredVariable(name, value, f, p.Message), Warning: true})
		}
	}
	return l
}

// ignoredVariable reports that a setting does not accept the variable's value, and lists the allowed values.
func ignoredVariable(name, value string, f *field, message string) string {
	_, want, found := strings.Cut(message, ": want ")
	switch {
	case f.kind == list:
		message = "want e.g. " + strings.Trim(string(f.defaultJSON()), "[]")
	case found:
		message = "want " + want
	}
	return fmt.Sprintf("%s=%s ignored: %s", name, strconv.Quote(clip(value)), message)
}

// warnUnknownVariable warns of a name that resembles a setting, or begins like a group.
func (l *layer) warnUnknownVariable(name string) {
	var names, groups []string
	for _, f := range fields().leaves() {
		names = append(names, strings.TrimPrefix(EnvName(f.key), envPrefix))
	}
	for _, f := range fields().fields {
		groups = append(groups, EnvName(f.key)+"_")
	}
	p := Problem{File: printable(name), Warning: true}
	if near := coretext.Nearest(strings.TrimPrefix(name, envPrefix), names); near != "" {
		p.Message = "unknown variable; did you mean " + envPrefix + near + "?"
	} else if slices.ContainsFunc(groups, func(g string) bool { return strings.HasPrefix(name, g) }) {
		p.Message = "unknown variable; no setting has this name"
	} else {
		return
	}
	l.add(p)
}

// flagLayer returns the settings of the command line, or nil if there are none.
func flagLayer(flags map[string]string) *layer {
	if len(flags) == 0 {
		return nil
	}
	l := &layer{name: "command line"}
	for _, key := range slices.Sorted(maps.Keys(flags)) {
		f := leaf(key)
		if f == nil {
			l.report(0, printable(key), "unknown key; %s", hintFlag(key))
			continue
		}
		one := textLayer(l.name, f, flags[key])
		l.settings = append(l.settings, one.settings...)
		l.problems = append(l.problems, one.problems...)
		l.bad = l.bad || one.bad
	}
	return l
}

// hintFlag suggests a setting for the unknown dotted key.
func hintFlag(key string) string {
	var keys []string
	for _, f := range fields().leaves() {
		keys = append(keys, f.key)
	}
	if near := coretext.Nearest(key, keys); near != "" {
		return "did you mean " + near + "?"
	}
	return "ctxls config schema lists them all"
}

// textLayer reads one value in its shell form.
func textLayer(name string, f *field, value string) *layer {
	l := &layer{name: name, offsets: map[string]int{}}
	r := reader{layer: l}
	r.value(shellValue(f, value), f)
	return l
}

// shellValue returns the JSON value that raw stands for: strings need no quotes and a list no brackets, 1 and 0 are
// true and false, tokens may be written as 200k, and everything else is JSON. What is no JSON either is taken for a string, so that it is reported.
func shellValue(f *field, raw string) hujson.Value {
	asString := hujson.Value{Value: hujson.String(raw)}
	source := strings.TrimSpace(raw)
	switch {
	case f.kind == text, f.kind == limit && source == "auto":
		return asString
	case f.kind == boolean && source == "1":
		source = "true"
	case f.kind == boolean && source == "0":
		source = "false"
	case (f.kind == integer || f.kind == limit) && strings.HasSuffix(f.name, "Tokens"):
		if n, ok := coretext.ParseTokens(source); ok {
			source = strconv.Itoa(n)
		}
	case f.kind == words && !strings.HasPrefix(source, "["):
		list := &hujson.Array{}
		for _, word := range strings.Split(source, ",") {
			list.Elements = append(list.Elements, hujson.Value{Value: hujson.String(strings.TrimSpace(word))})
		}
		return hujson.Value{Value: list}
	case f.kind == list && !strings.HasPrefix(source, "["):
		source = "[" + source + "]"
	}
	if tooDeep([]byte(source)) >= 0 {
		return asString
	}
	v, err := hujson.Parse([]byte(source))
	if err != nil {
		return asString
	}
	return v
}

package generic

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/text"
	"github.com/ctxls/ctxls/internal/host/transcript"
	"github.com/ctxls/ctxls/internal/jsonscan"
)

// Parse reads one event. name is the event's, where the payload does not carry it. Whatever is wrong with it is an error with coded.Invalid that names the member and says what is
// allowed there; a member that the event does not take is wrong, null is the same as absent.
func Parse(name string, data []byte) (ev Event, err error) {
	ev.Name = name
	if len(data) > core.MaxPayload {
		return ev, coded.Field("payload", "%d bytes, want at most %d", len(data), core.MaxPayload)
	}
	if !json.Valid(data) || !transcript.Members(data, func(key, value []byte) bool {
		if string(key) == "event" {
			ev.Name = transcript.String(value)
		}
		return true
	}) {
		return ev, coded.Field("payload", "want a JSON object")
	}
	if name == ev.Name && name != "" && !knownEvent(name) {
		return ev, coded.Field("event", "want one of %s, got %q", strings.Join(choices("event", ""), ", "), text.Sanitize(name, 40))
	}
	if err := parseObject(data, reflect.ValueOf(&ev).Elem(), "", ev.Name); err != nil {
		return ev, err
	}
	if cached := ev.CacheReadTokens + ev.CacheWriteTokens; cached > ev.Tokens {
		return ev, coded.Field("tokens", "want all that the model was given, at least the %d that went through a cache, got %d", cached, ev.Tokens)
	}
	return ev, nil
}

// parseObject reads a JSON object into a struct. at is its place, event the event that it belongs to.
func parseObject(data []byte, into reflect.Value, at, event string) (err error) {
	members := membersOf(into.Type())
	given := map[string]bool{}
	if !transcript.Members(data, func(key, value []byte) bool {
		if string(value) == "null" {
			return true
		}
		name := transcript.String(slices.Concat([]byte(`"`), key, []byte(`"`)))
		i := slices.IndexFunc(members, func(m member) bool { return m.name == name })
		if i < 0 || !members[i].takenBy(event) && knownEvent(event) {
			err = unknownMember(at+text.Sanitize(name, 60), members, event)
			return false
		}
		given[name] = true
		err = members[i].parse(value, into.Field(members[i].field), at+name, event)
		return err == nil
	}) {
		return coded.Field(strings.TrimSuffix(at, "."), "want an object%s, got %s", exampleOf(into.Type()), shown(data))
	}
	for _, m := range members {
		if err == nil && m.need && m.takenBy(event) && !given[m.name] && into.Field(m.field).IsZero() {
			err = coded.Field(at+m.name, "required, want %s", m.wants())
		}
	}
	return err
}

// exampleOf shows an object of a type, for errors.
func exampleOf(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[Path]():
		return ` such as {"path": "a.ts", "use": "edited"}`
	case reflect.TypeFor[Message]():
		return ` such as {"role": "user", "text": "hello"}`
	}
	return ""
}

// knownEvent reports whether there is such an event. The members of an unknown one are unknown.
func knownEvent(name string) bool {
	return slices.ContainsFunc(occurrences, func(o occurrence) bool { return o.name == name })
}

func unknownMember(place string, members []member, event string) error {
	var taken []string
	known := knownEvent(event)
	for _, m := range members {
		if m.takenBy(event) || !known {
			taken = append(taken, m.name)
		}
	}
	if !known {
		event = "an event"
	}
	return coded.Field(place, "no such member of %s; it takes %s", event, strings.Join(taken, ", "))
}

// member is one member of an object, as its type's tags describe it.
type member struct {
	name, doc string
	field     int
	kind      reflect.Type
	on, not   []string
	need      bool
	min, max  int
	enum      []string
}

func membersOf(t reflect.Type) []member {
	members := make([]member, t.NumField())
	for i := range members {
		tag, name := t.Field(i).Tag, t.Field(i).Tag.Get("json")
		m := member{name: name, doc: tag.Get("doc"), field: i, kind: t.Field(i).Type, on: words(tag.Get("on")), not: words(tag.Get("not")), need: tag.Get("need") != ""}
		m.min, _ = strconv.Atoi(tag.Get("min"))
		m.max, _ = strconv.Atoi(tag.Get("max"))
		m.enum = choices(name, tag.Get("enum"))
		members[i] = m
	}
	return members
}

func words(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Fields(s)
}

func (m member) takenBy(event string) bool {
	return (m.on == nil || slices.Contains(m.on, event)) && !slices.Contains(m.not, event)
}

// wants says in words what the member may be.
func (m member) wants() string {
	switch {
	case m.kind == reflect.TypeFor[json.RawMessage]():
		return "any JSON"
	case m.kind.Kind() == reflect.Slice && m.enum != nil:
		return "a list of " + strings.Join(m.enum, ", ")
	case m.kind.Kind() == reflect.Slice:
		return "a list of objects" + exampleOf(m.kind.Elem())
	case m.kind.Kind() == reflect.Bool:
		return "true or false"
	case m.kind.Kind() == reflect.Int && m.min == m.max:
		return strconv.Itoa(m.min)
	case m.kind.Kind() == reflect.Int:
		return fmt.Sprintf("a whole number from %d to %d", m.min, m.max)
	case m.enum != nil:
		return "one of " + strings.Join(m.enum, ", ")
	case m.need:
		return fmt.Sprintf("a string of 1 to %d characters", m.max)
	}
	return fmt.Sprintf("a string of at most %d characters", m.max)
}

// parse reads the member's value.
func (m member) parse(value []byte, into reflect.Value, place, event string) error {
	wrong := coded.Field(place, "want %s, got %s", m.wants(), shown(value))
	if m.kind.Kind() == reflect.Slice && m.kind.Elem().Kind() != reflect.Uint8 {
		return m.parseList(value, into, place, event, wrong)
	}
	if number, whole := jsonscan.Integer(value); whole && into.Kind() == reflect.Int {
		into.SetInt(number)
	} else if json.Unmarshal(value, into.Addr().Interface()) != nil {
		return wrong
	}
	switch v := into.Interface().(type) {
	case int:
		if v < m.min || v > m.max {
			return wrong
		}
	case string:
		if m.enum != nil && !slices.Contains(m.enum, v) || m.enum == nil && (m.need && v == "" || utf8.RuneCountInString(v) > m.max) {
			return wrong
		}
	}
	return nil
}

func (m member) parseList(value []byte, into reflect.Value, place, event string, wrong error) (err error) {
	list, n := reflect.MakeSlice(m.kind, 0, 4), 0
	if !transcript.Elements(value, func(element []byte) bool {
		item := reflect.New(m.kind.Elem()).Elem()
		if item.Kind() == reflect.Struct {
			err = parseObject(element, item, fmt.Sprintf("%s[%d].", place, n), event)
		} else if item.SetString(transcript.String(element)); !slices.Contains(m.enum, item.String()) {
			err = coded.Field(fmt.Sprintf("%s[%d]", place, n), "want one of %s, got %s", strings.Join(m.enum, ", "), shown(element))
		}
		list, n = reflect.Append(list, item), n+1
		return err == nil
	}) {
		return wrong
	}
	into.Set(list)
	return err
}

// shown is a value as an error quotes it.
func shown(value []byte) string {
	if len(value) > 0 && (value[0] == '{' || value[0] == '[') {
		return map[byte]string{'{': "an object", '[': "a list"}[value[0]]
	}
	return text.Sanitize(string(value[:min(len(value), 200)]), 60)
}

package settings

import (
	"github.com/tailscale/hujson"
)

// Command returns the command that a member such as "statusLine" runs: an object with type "command" and a command. ok says that the
// member exists. Any other shape is an error with coded.Invalid and its position.
func (d *Document) Command(name string) (command string, ok bool, err error) {
	m, err := d.member(d.object(), name)
	if m == nil || err != nil {
		return "", false, err
	}
	o, isObject := m.Value.Value.(*hujson.Object)
	if !isObject {
		return "", false, d.wrong(m.Value, "%q holds %s, want an object", name, kindOf(m.Value))
	}
	kind, inner := find(o, "type"), find(o, "command")
	if kind == nil || stringOf(kind.Value) != "command" || inner == nil || inner.Value.Value.Kind() != '"' {
		return "", false, d.wrong(m.Value, `%q is no command: want {"type": "command", "command": "…"}`, name)
	}
	return stringOf(inner.Value), true, nil
}

// SetCommand makes a member run a command. If it already runs one, nothing else of it changes. The command keeps its spelling from
// before, if it was there: one string has many spellings in JSON.
func (d *Document) SetCommand(name, command string, before *Document) {
	spelled := literal(command)
	if was := before.commandValue(name); was != nil && stringOf(*was) == command {
		spelled = was.Value.(hujson.Literal)
	}
	if v := d.commandValue(name); v != nil {
		v.Value = spelled
		return
	}
	root := d.object()
	v := inline(struct {
		Type    string `json:"type"`
		Command string `json:"command"`
	}{"command", command})
	root.Members = add(root.Members, &root.AfterExtra, named(name, v), "", d.l)
}

// RemoveCommand removes the member.
func (d *Document) RemoveCommand(name string) { d.remove(name) }

// commandValue returns the command string of a member, nil if there is none.
func (d *Document) commandValue(name string) *hujson.Value {
	if d == nil {
		return nil
	}
	m := find(d.object(), name)
	if m == nil {
		return nil
	}
	o, ok := m.Value.Value.(*hujson.Object)
	if !ok {
		return nil
	}
	if inner := find(o, "command"); inner != nil && inner.Value.Value.Kind() == '"' {
		return &inner.Value
	}
	return nil
}

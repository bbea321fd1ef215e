package settings

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/ctxls/ctxls/internal/core/session"
)

// Hook is an event at which a host runs ctxls.
type Hook struct {
	Event   string
	Timeout int // in the host's unit
}

// AddHooks makes the host run ctxls at the given events. It returns the events that had no ctxls, and those that ran another one. All
// other hooks stay. If "hooks" is not an object of lists, it returns an error with coded.Invalid and the position.
func (d *Document) AddHooks(host session.Host, run Invocation, hooks []Hook) (added, moved []string, err error) {
	all, indent, err := d.hooksObject()
	if err != nil {
		return nil, nil, err
	}
	for _, h := range hooks {
		event, err := d.member(all, h.Event)
		if err != nil {
			return nil, nil, err
		}
		if event == nil {
			list := inline([]any{group(run, h)})
			all.Members = add(all.Members, &all.AfterExtra, named(h.Event, list), indent, d.l)
			added = append(added, h.Event)
			continue
		}
		groups, ok := event.Value.Value.(*hujson.Array)
		if !ok {
			return nil, nil, d.wrong(event.Value, "%q holds %s, want a list", "hooks."+h.Event, kindOf(event.Value))
		}
		covered := false
		for _, entries := range entryLists(groups) {
			for i := range entries.Elements {
				o, own := ownEntry(entries.Elements[i], host)
				if !own {
					continue
				}
				covered = true
				command, args := find(o, "command"), find(o, "args")
				same := stringOf(command.Value) == run.Command && slices.Equal(stringsOf(args), run.Args)
				if !run.replaces(stringOf(command.Value), args != nil) || same && run.inShell(o) {
					continue
				}
				run.setShell(o)
				command.Value.Value = literal(run.Command)
				if args != nil {
					args.Value.Value = inline(run.Args).Value
				}
				moved = append(moved, h.Event)
			}
		}
		if !covered {
			eventIndent, _ := indentOf(event.Name.BeforeExtra)
			groups.Elements = add(groups.Elements, &groups.AfterExtra, inline(group(run, h)), eventIndent, d.l)
			added = append(added, h.Event)
		}
	}
	return added, moved, nil
}

// RemoveHooks removes every hook that runs ctxls for the host. It removes what is empty then, unless it was empty in before, the
// document from before AddHooks; nil is not known. It returns the events that had a hook.
func (d *Document) RemoveHooks(host session.Host, before *Document) (removed []string) {
	m := find(d.object(), "hooks")
	if m == nil {
		return nil
	}
	all, ok := m.Value.Value.(*hujson.Object)
	if !ok {
		return nil
	}
	indent, _ := indentOf(m.Name.BeforeExtra)
	for e := len(all.Members) - 1; e >= 0; e-- {
		event := &all.Members[e]
		groups, ok := event.Value.Value.(*hujson.Array)
		if !ok || !d.removeGroups(event, groups, host) {
			continue
		}
		name := stringOf(event.Name)
		removed = append(removed, name)
		if empty(len(groups.Elements), groups.AfterExtra) && !before.has("hooks", name) {
			all.Members = cut(all.Members, &all.AfterExtra, e, indent, d.l)
		}
	}
	if len(removed) > 0 && empty(len(all.Members), all.AfterExtra) && !before.has("hooks") {
		d.remove("hooks")
	}
	slices.Reverse(removed)
	return removed
}

// removeGroups removes our entries from an event's groups, and groups that become empty.
func (d *Document) removeGroups(event *hujson.ObjectMember, groups *hujson.Array, host session.Host) (found bool) {
	indent, _ := indentOf(event.Name.BeforeExtra)
	for g := len(groups.Elements) - 1; g >= 0; g-- {
		entries := entriesOf(groups.Elements[g])
		if entries == nil {
			continue
		}
		inner, _ := indentOf(groups.Elements[g].BeforeExtra)
		here := false
		for i := len(entries.Elements) - 1; i >= 0; i-- {
			if _, own := ownEntry(entries.Elements[i], host); own {
				entries.Elements = cut(entries.Elements, &entries.AfterExtra, i, inner+d.l.unit, d.l)
				here = true
			}
		}
		if here && empty(len(entries.Elements), entries.AfterExtra) {
			groups.Elements = cut(groups.Elements, &groups.AfterExtra, g, indent, d.l)
		}
		found = found || here
	}
	return found
}

// hooksObject returns the object of all hooks and the indentation of its line. It makes the object if it is missing.
func (d *Document) hooksObject() (*hujson.Object, string, error) {
	root := d.object()
	m, err := d.member(root, "hooks")
	if err != nil {
		return nil, "", err
	}
	if m == nil {
		root.Members = add(root.Members, &root.AfterExtra, named("hooks", hujson.Value{Value: &hujson.Object{}}), "", d.l)
		m = &root.Members[len(root.Members)-1]
	}
	all, ok := m.Value.Value.(*hujson.Object)
	if !ok {
		return nil, "", d.wrong(m.Value, `"hooks" holds %s, want an object`, kindOf(m.Value))
	}
	indent, _ := indentOf(m.Name.BeforeExtra)
	return all, indent, nil
}

// has reports whether the document has a value at the given names.
func (d *Document) has(names ...string) bool {
	if d == nil {
		return false
	}
	o := d.object()
	for i, name := range names {
		m := find(o, name)
		if m == nil {
			return false
		}
		if inner, ok := m.Value.Value.(*hujson.Object); ok {
			o = inner
		} else if i < len(names)-1 {
			return false
		}
	}
	return true
}

// remove removes a member from the document.
func (d *Document) remove(name string) {
	root := d.object()
	for i := range root.Members {
		if stringOf(root.Members[i].Name) == name {
			root.Members = cut(root.Members, &root.AfterExtra, i, "", d.l)
			return
		}
	}
}

// entryLists returns the lists of hooks in an event's groups. Values of another shape are not ours.
func entryLists(groups *hujson.Array) (lists []*hujson.Array) {
	for _, g := range groups.Elements {
		if list := entriesOf(g); list != nil {
			lists = append(lists, list)
		}
	}
	return lists
}

func entriesOf(group hujson.Value) *hujson.Array {
	o, ok := group.Value.(*hujson.Object)
	if !ok {
		return nil
	}
	m := find(o, "hooks")
	if m == nil {
		return nil
	}
	list, _ := m.Value.Value.(*hujson.Array)
	return list
}

// ownEntry returns a hook as an object, and whether it runs ctxls for the host: an executable with that name and the arguments "hook
// HOST", or the same as one line for a shell.
func ownEntry(entry hujson.Value, host session.Host) (*hujson.Object, bool) {
	o, ok := entry.Value.(*hujson.Object)
	if !ok {
		return nil, false
	}
	command := find(o, "command")
	if command == nil {
		return nil, false
	}
	program := strings.TrimSpace(stringOf(command.Value))
	if args := find(o, "args"); args != nil {
		_, own := ownArgs(program, stringsOf(args), host)
		return o, own
	}
	_, ok = OwnLine(program, host)
	return o, ok
}

// OwnLine returns the program that a line for a shell runs as ctxls' hook for the host.
func OwnLine(line string, host session.Host) (program string, ok bool) {
	line, ok = strings.CutSuffix(withoutExec(strings.TrimSpace(line)), " hook "+string(host))
	return programOf(line), ok && IsOwn(strings.Trim(line, `"' `))
}

// stringsOf returns the elements of a list member; nil if it is no list.
func stringsOf(m *hujson.ObjectMember) (all []string) {
	if m == nil {
		return nil
	}
	if list, ok := m.Value.Value.(*hujson.Array); ok {
		for _, element := range list.Elements {
			all = append(all, stringOf(element))
		}
	}
	return all
}

// IsOwn reports whether a program has the name of ctxls, in any directory.
func IsOwn(program string) bool {
	name := path.Base(strings.ReplaceAll(program, `\`, "/"))
	return name == "ctxls" || strings.EqualFold(name, "ctxls.exe")
}

// find returns the member of an object with a name; of several the last one, as hosts do.
func find(o *hujson.Object, name string) *hujson.ObjectMember {
	for i := len(o.Members) - 1; i >= 0; i-- {
		if stringOf(o.Members[i].Name) == name {
			return &o.Members[i]
		}
	}
	return nil
}

func empty(items int, end hujson.Extra) bool {
	comments, _ := split(end)
	return items == 0 && comments == ""
}

// group is the entry of one event: a group without a matcher, which means "always", with one hook.
func group(run Invocation, h Hook) any {
	type entry struct {
		Type    string   `json:"type"`
		Name    string   `json:"name,omitempty"`
		Command string   `json:"command"`
		Args    []string `json:"args,omitempty"`
		Shell   string   `json:"shell,omitempty"`
		Timeout int      `json:"timeout"`
	}
	return struct {
		Hooks []entry `json:"hooks"`
	}{[]entry{{"command", run.Name, run.Command, run.Args, run.Shell, h.Timeout}}}
}

// inShell reports whether a hook runs in the shell that it is to run in.
func (run Invocation) inShell(hook *hujson.Object) bool {
	m := find(hook, "shell")
	return run.Shell == "" || m != nil && stringOf(m.Value) == run.Shell
}

// setShell makes a hook run in the shell that it is to run in.
func (run Invocation) setShell(hook *hujson.Object) {
	if run.inShell(hook) {
		return
	}
	if m := find(hook, "shell"); m != nil {
		m.Value.Value = literal(run.Shell)
		return
	}
	shell := named("shell", hujson.Value{Value: literal(run.Shell)})
	shell.Name.BeforeExtra = hook.Members[len(hook.Members)-1].Name.BeforeExtra
	hook.Members = append(hook.Members, shell)
}

// inline returns a value on one line, with a space after each comma and colon.
func inline(v any) hujson.Value {
	text, _ := json.Marshal(v) // strings and numbers only
	value, _ := hujson.Parse(text)
	for inner := range value.All() {
		switch c := inner.Value.(type) {
		case *hujson.Object:
			for i := range c.Members {
				c.Members[i].Value.BeforeExtra = hujson.Extra(" ")
				if i > 0 {
					c.Members[i].Name.BeforeExtra = hujson.Extra(" ")
				}
			}
		case *hujson.Array:
			for i := 1; i < len(c.Elements); i++ {
				c.Elements[i].BeforeExtra = hujson.Extra(" ")
			}
		case hujson.Literal:
			if c.Kind() == '"' {
				inner.Value = literal(c.String()) // without the escapes that are for web pages
			}
		}
	}
	return value
}

func literal(s string) hujson.Literal { return hujson.String(s) }

func named(name string, v hujson.Value) hujson.ObjectMember {
	v.BeforeExtra = hujson.Extra(" ")
	return hujson.ObjectMember{Name: hujson.Value{Value: literal(name)}, Value: v}
}

package config

import (
	"fmt"
	"strings"
)

// Reference returns tables of every setting in Markdown, made from the types in core: key, default, allowed values,
// description, and environment variable. A mark shows the settings that a workspace may set.
func Reference() string {
	var b strings.Builder
	b.WriteString("A workspace may set the keys marked with †.\n")
	for _, group := range fields().fields {
		fmt.Fprintf(&b, "\n### %s\n\n", group.key)
		if group.kind == object {
			b.WriteString(group.doc + "\n\n")
		}
		b.WriteString("| key | default | allowed | meaning | environment |\n|---|---|---|---|---|\n")
		for _, f := range group.leaves() {
			mark := ""
			if f.forWorkspace() {
				mark = " †"
			}
			fmt.Fprintf(&b, "| `%s`%s | `%s` | %s | %s | `%s` |\n", f.key, mark, f.defaultJSON(), f.allowed(), cell(f.doc), EnvName(f.key))
		}
	}
	return b.String()
}

// cell escapes text for a cell of a Markdown table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "*", `\*`, "\n", " ").Replace(text)
}

// Licenses lists what is in the ctxls binary, or another of ours, that others wrote, and under which licence, over all systems that it is built for.
// It fails on a module without a licence that this project may ship. With -texts it prints the licences whole, as they have to
// be handed on with the binary.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
)

// accepted are the licences, by their SPDX names, of what may go into an MIT-licensed binary, each known by a phrase that no other
// has, spaces folded.
var accepted = []struct{ name, phrase string }{
	{"MIT", "Permission is hereby granted, free of charge, to any person obtaining a copy"},
	{"BSD", "Redistribution and use in source and binary forms, with or without modification, are permitted"},
	{"Apache-2.0", "Apache License Version 2.0, January 2004"},
	{"ISC", "Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted"},
	{"MPL-2.0", "Mozilla Public License Version 2.0"},
	{"public domain", "dedicated to the public domain by the authors"},
}

// vocabularies is the module that the token tables are generated from.
const vocabularies = "github.com/pkoukk/tiktoken-go-loader"

// program is what is shipped.
var program = "./cmd/ctxls"

func main() {
	texts := flag.Bool("texts", false, "print the licences whole instead of a table")
	flag.StringVar(&program, "program", program, "the `package` of the program")
	flag.Parse()
	if err := run(os.Stdout, *texts); err != nil {
		fmt.Fprintln(os.Stderr, "licenses:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, texts bool) error {
	modules, err := modules()
	if err != nil {
		return err
	}
	var problems []error
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, m := range modules {
		found, err := m.licences()
		if err != nil {
			problems = append(problems, err)
			continue
		}
		for _, l := range found {
			if texts {
				fmt.Fprintf(w, "%s %s, %s\n\n%s\n\n%s\n\n", m.path, m.version, l.file, bytes.TrimSpace(l.text), strings.Repeat("-", 80))
			} else {
				fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", m.path, m.version, strings.Join(l.names, ", "), l.file)
			}
		}
	}
	return errors.Join(append(problems, table.Flush())...)
}

// module is one that the binary holds a part of.
type module struct{ path, version, dir string }

// modules returns every module that the program is made of on any system, Go's own library included, by path.
func modules() (modules []module, err error) {
	root, err := exec.Command("go", "env", "GOROOT", "GOVERSION").Output()
	if err != nil {
		return nil, err
	}
	dir, version, _ := strings.Cut(strings.TrimSpace(string(root)), "\n")
	modules = []module{{"Go standard library", version, dir}}
	add := func(out []byte) {
		for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
			if f := strings.Split(lines.Text(), "\t"); len(f) == 3 {
				modules = append(modules, module{f[0], f[1], f[2]})
			}
		}
	}
	source, err := exec.Command("go", "list", "-m", "-f", "{{.Path}}\t{{.Version}}\t{{.Dir}}", vocabularies).Output()
	if err != nil {
		return nil, fmt.Errorf("go list -m %s: %w", vocabularies, err)
	}
	add(source)
	for _, system := range []string{"linux", "darwin", "windows"} {
		list := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}", program)
		list.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		list.Stderr = os.Stderr
		out, err := list.Output()
		if err != nil {
			return nil, fmt.Errorf("go list for %s: %w", system, err)
		}
		add(out)
	}
	slices.SortFunc(modules, func(a, b module) int { return cmp.Compare(a.path, b.path) })
	return slices.Compact(modules), nil
}

// licence is one file of a module.
type licence struct {
	file  string
	names []string
	text  []byte
}

// licenceFile matches the names of files that hold a licence.
var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|unlicense)([-.].*)?$`)

// licences reads the licences of a module. Anything that is not accepted, or none, is an error.
func (m module) licences() (found []licence, err error) {
	entries, err := os.ReadDir(m.dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.IsDir() || !licenceFile.MatchString(e.Name()) || e.Name() == "LICENSE-LOGO" { // of a picture, which is not in the binary
			continue
		}
		text, err := os.ReadFile(filepath.Join(m.dir, e.Name()))
		if err != nil {
			return nil, err
		}
		l := licence{file: e.Name(), text: text}
		folded := strings.Join(strings.Fields(string(text)), " ")
		for _, a := range accepted {
			if strings.Contains(folded, a.phrase) {
				l.names = append(l.names, a.name)
			}
		}
		if len(l.names) == 0 {
			return nil, fmt.Errorf("%s %s: %s is under no licence that this project ships", m.path, m.version, e.Name())
		}
		found = append(found, l)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s %s: no licence", m.path, m.version)
	}
	return found, nil
}

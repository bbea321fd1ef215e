package test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Only cmd reads the environment, and only cmd reads the clock for the domain. So a package's inputs are visible in its
// calls.
func TestOnlyCommandsLookAtTheEnvironment(t *testing.T) {
	forbidden := map[string][]string{
		"os":   {"Getenv", "LookupEnv", "Environ", "Args", "UserHomeDir", "UserConfigDir", "UserCacheDir", "Getwd"},
		"time": {"Now", "Since", "Sleep", "After"},
	}
	err := filepath.WalkDir("../internal", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		slashed := filepath.ToSlash(path)
		if d.IsDir() && (strings.HasSuffix(slashed, "/tools") || strings.HasSuffix(slashed, "/testdata") || strings.HasSuffix(slashed, "/storetest") || strings.HasSuffix(slashed, "/teamtest")) {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		inCore := strings.HasPrefix(slashed, "../internal/core/")
		ast.Inspect(file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			pkg, ok := sel.X.(*ast.Ident)
			if !ok || pkg.Name == "time" && !inCore || !slices.Contains(forbidden[pkg.Name], sel.Sel.Name) {
				return true
			}
			t.Errorf("%s uses %s.%s", slashed, pkg.Name, sel.Sel.Name)
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The code for measuring and trimming names its requirement.
func TestRequirementTag(t *testing.T) {
	const tag = "1_PRD-REQ-MET-010"
	files, err := filepath.Glob("../internal/core/conversation/*.go")
	if err != nil {
		t.Fatal(err)
	}
	tagged := map[string]bool{}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && strings.Contains(f.Doc.Text(), tag) {
				tagged[f.Name.Name] = true
			}
		}
	}
	for _, name := range []string{"Measure", "Trim"} {
		if !tagged[name] {
			t.Errorf("the doc comment of %s does not name %s", name, tag)
		}
	}
}

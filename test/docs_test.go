package test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// documents returns every document of the tree, by its path from the root of the repository, and its text.
func documents(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (slices.Contains([]string{".git", "node_modules", "testdata", "dist", "out"}, entry.Name())):
			return filepath.SkipDir
		case filepath.Ext(path) != ".md":
			return nil
		}
		text, err := os.ReadFile(path)
		texts[filepath.ToSlash(strings.TrimPrefix(path, ".."+string(filepath.Separator)))] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if texts["docs/getting-started/README.md"] == "" || texts["editors/vscode/README.md"] == "" {
		t.Fatalf("these cannot be all documents: %v", slices.Sorted(maps.Keys(texts)))
	}
	return texts
}

var consoleBlock = regexp.MustCompile("(?ms)^( *)```console\n(.*?)^ *```$")

// Every console block of the documents is run, in order, with one HOME for each document, from the root of the
// repository. A line that begins with "$ " is a command, and the lines after it are its output and errors. export and
// unset apply to the rest of the document. "…" stands for any text within a line.
func TestDocuments(t *testing.T) {
	bin := buildAll(t)
	for document, text := range documents(t) {
		blocks := consoleBlock.FindAllStringSubmatch(text, -1)
		if blocks == nil {
			continue
		}
		t.Run(document, func(t *testing.T) {
			patiently(t, func(home string) error {
				shell := "" // variables that earlier commands set for later ones
				for _, block := range blocks {
					lines := regexp.MustCompile("(?m)^"+block[1]).ReplaceAllString(block[2], "")
					for _, part := range strings.Split("\n"+lines, "\n$ ")[1:] {
						command, want, _ := strings.Cut(part, "\n")
						if strings.HasPrefix(command, "export ") || strings.HasPrefix(command, "unset ") {
							shell += command + "\n"
						}
						cmd := exec.Command("sh", "-c", shell+command)
						cmd.Dir = ".."
						cmd.Env = []string{"HOME=" + home, "PATH=" + bin + string(filepath.ListSeparator) + os.Getenv("PATH"), "COLUMNS=120", "NO_COLOR=1"}
						got, err := cmd.CombinedOutput()
						if err != nil {
							return fmt.Errorf("%s: %w", command, err)
						}
						if !printed(string(got), want) {
							return fmt.Errorf("$ %s\n--- the document says\n%s\n--- it prints\n%s", command, want, got)
						}
					}
				}
				left, err := filepath.Glob(filepath.Join(home, "[^.]*"))
				for _, file := range left {
					if name := filepath.Base(file); !strings.Contains(text, "emove `~/"+name+"`") {
						err = fmt.Errorf("the examples leave %s in HOME, and the document does not say so", name)
					}
				}
				return err
			})
		})
	}
}

func printed(got, want string) bool {
	var pattern strings.Builder
	for _, part := range strings.Split(strings.TrimRight(want, "\n"), "…") {
		pattern.WriteString(regexp.QuoteMeta(part) + "[^\n]*")
	}
	return regexp.MustCompile("^" + strings.TrimSuffix(pattern.String(), "[^\n]*") + "\n*$").MatchString(got)
}

// The pages of the hosts quote all texts for an agent exactly as ctxls writes them. The test runs the hooks of a short
// session, docs/examples/said-HOST.jsonl, one after the other.
func TestWhatIsSaid(t *testing.T) {
	bin, texts := buildAll(t), documents(t)
	for _, host := range []string{"claude-code", "codex", "gemini-cli", "opencode"} {
		t.Run(host, func(t *testing.T) {
			hooks, err := os.ReadFile("../docs/examples/said-" + host + ".jsonl")
			if err != nil {
				t.Fatal(err)
			}
			page := texts["docs/getting-started/"+host+".md"]
			patiently(t, func(home string) error {
				run := func(stdin string, args ...string) string {
					cmd := exec.Command(filepath.Join(bin, "ctxls"), args...)
					cmd.Env, cmd.Stdin = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}, strings.NewReader(stdin)
					out, _ := cmd.Output() // a hook always ends with 0
					return string(out)
				}
				if host == "claude-code" { // which reports its figures only to its status line
					payload, err := os.ReadFile("../docs/examples/statusline.json")
					if err != nil {
						return err
					}
					run(string(payload), "statusline")
				}
				said := 0
				for line := range strings.Lines(string(hooks)) {
					args := []string{"hook", host}
					var call struct {
						Event   string
						Payload json.RawMessage
					}
					if err := json.Unmarshal([]byte(line), &call); err != nil {
						return err
					}
					if call.Event != "" { // OpenCode's are calls of a plugin, with their payloads
						args, line = append(args, "--event", call.Event), string(call.Payload)
					}
					for _, text := range quoted(run(line, args...)) {
						said++
						for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
							if !strings.Contains(page, strings.TrimRight("\n    "+line, " ")+"\n") {
								return fmt.Errorf("the page does not say what %s does: %q", args, line)
							}
						}
					}
				}
				if said < 2 {
					return fmt.Errorf("%d texts were said", said)
				}
				return nil
			})
		})
	}
}

// quoted returns the texts for the agent in a hook's output: all of it, or the strings in its JSON.
func quoted(printed string) (texts []string) {
	var value any
	if json.Unmarshal([]byte(printed), &value) != nil {
		return []string{printed}
	}
	var collect func(v any)
	collect = func(v any) {
		switch v := v.(type) {
		case string:
			if strings.ContainsAny(v, " \n") { // a sentence, not a name
				texts = append(texts, v)
			}
		case []any:
			for _, v := range v {
				collect(v)
			}
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(v)) {
				collect(v[key])
			}
		}
	}
	collect(value)
	return texts
}

var (
	fenced   = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	code     = regexp.MustCompile("`[^`\n]*`")
	link     = regexp.MustCompile(`\]\(([^)#\s]*)(?:#([^)\s]*))?\)`)
	heading  = regexp.MustCompile(`(?m)^#{1,6} +(.*)$`)
	external = regexp.MustCompile(`^[a-z]+:`)
)

// A link within the repository leads to an existing file and heading. The same holds for a picture.
func TestLinks(t *testing.T) {
	texts := documents(t)
	for document, text := range texts {
		for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(fenced.ReplaceAllString(text, ""), ""), -1) {
			to, anchor := m[1], m[2]
			if external.MatchString(to) {
				continue
			}
			target := document
			if to != "" {
				target = filepath.ToSlash(filepath.Join(filepath.Dir(document), to))
				if _, err := os.Stat(filepath.Join("..", target)); err != nil {
					t.Errorf("%s links to %s, which does not exist", document, to)
					continue
				}
			}
			if anchor != "" && !slices.Contains(anchors(texts[target]), anchor) {
				t.Errorf("%s links to %s#%s, and that has no such heading", document, to, anchor)
			}
		}
	}
}

// anchors returns the names by which the headings of a document can be linked to on the usual sites: small letters, no
// punctuation, hyphens for spaces, and a number where a heading comes again.
func anchors(text string) (names []string) {
	seen := map[string]int{}
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		title := regexp.MustCompile(`\[([^]]*)\]\([^)]*\)`).ReplaceAllString(m[1], "$1")
		name := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, title)
		if n := seen[name]; n > 0 {
			names = append(names, fmt.Sprint(name, "-", n))
		} else {
			names = append(names, name)
		}
		seen[name]++
	}
	return names
}

// Every picture is used in a document, and has a text for readers who cannot see it. No picture contains a name or path
// of the machine that drew it.
func TestPictures(t *testing.T) {
	shown := map[string]bool{}
	for document, text := range documents(t) {
		for _, m := range regexp.MustCompile(`!\[([^]]*)\]\(([^)\s]+)\)`).FindAllStringSubmatch(text, -1) {
			shown[filepath.ToSlash(filepath.Join(filepath.Dir(document), m[2]))] = true
			if m[1] == "" {
				t.Errorf("%s does not say what %s shows", document, m[2])
			}
		}
	}
	pictures, err := filepath.Glob("../docs/images/*")
	if err != nil || len(pictures) == 0 {
		t.Fatal(pictures, err)
	}
	for _, picture := range pictures {
		if name := "docs/images/" + filepath.Base(picture); !shown[name] {
			t.Errorf("no document shows %s", name)
		}
		drawn, err := os.ReadFile(picture)
		if err != nil {
			t.Fatal(err)
		}
		if place := regexp.MustCompile(`/(tmp|root|work|var|Users)/[^<]*`).Find(drawn); place != nil && filepath.Ext(picture) == ".svg" {
			t.Errorf("%s shows a place of the machine that drew it: %s", picture, place)
		}
	}
}

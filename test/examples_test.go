package test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The examples of docs/hosts.md print the outputs below them, each in its own home.
func TestExamplesOfHosts(t *testing.T) {
	bin := buildAll(t)
	text, err := os.ReadFile("../docs/hosts.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile("(?ms)^```(sh|python|ts)\n(.*?)^```\n+^```text\n(.*?)^```$").FindAllStringSubmatch(string(text), -1)
	if len(examples) != 3 {
		t.Fatalf("%d examples, want one in each of shell, Python and TypeScript", len(examples))
	}
	for _, example := range examples {
		language, source, want := example[1], example[2], example[3]
		t.Run(language, func(t *testing.T) {
			patiently(t, func(dir string) error {
				file := filepath.Join(dir, "example."+language)
				if err := os.WriteFile(file, []byte(source), 0o644); err != nil {
					return err
				}
				var command []string
				switch language {
				case "sh":
					need(t, "jq")
					command = []string{"sh", file}
				case "python":
					need(t, "python3")
					command = []string{"python3", file}
				case "ts":
					need(t, "node")
					command = typeScript(t, file)
				}
				cmd := exec.Command(command[0], command[1:]...)
				cmd.Dir = dir
				cmd.Env = []string{"HOME=" + dir, "PATH=" + bin + string(filepath.ListSeparator) + os.Getenv("PATH"), "COLUMNS=120", "NO_COLOR=1"}
				got, err := cmd.CombinedOutput()
				if err != nil || !printed(string(got), want) {
					return fmt.Errorf("%v\n--- the document says\n%s\n--- it prints\n%s", err, want, got)
				}
				return nil
			})
		})
	}
}

// patiently runs an example that starts hooks, in its own home. It runs the example again if it failed and a hook gave
// up. On a busy machine half a second may be too short, and a hook then stays silent.
func patiently(t *testing.T, run func(home string) error) {
	t.Helper()
	for attempt := 1; ; attempt++ {
		home := t.TempDir()
		err := run(home)
		if err == nil {
			return
		}
		log, _ := os.ReadFile(filepath.Join(home, ".local", "state", "ctxls", "ctxls.log"))
		if attempt == 5 || !strings.Contains(string(log), "hook gave up") {
			t.Fatal(err)
		}
	}
}

// need skips a test if a program is missing, except in CI.
func need(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		missing(t, err)
	}
}

func missing(t *testing.T, what any) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(what)
	}
	t.Skip(what)
}

// typeScript returns the command that runs a TypeScript program. Node 22.6 and later remove the types themselves. For
// older versions, the package that Node uses removes the types first.
func typeScript(t *testing.T, file string) []string {
	if exec.Command("node", "--experimental-strip-types", "--eval", "0").Run() == nil {
		return []string{"node", "--experimental-strip-types", "--no-warnings", asModule(t, file)}
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		missing(t, err)
	}
	dir := filepath.Join(cache, "ctxls-dev", "amaro")
	amaro := filepath.Join(dir, "node_modules", "amaro")
	if _, err := os.Stat(amaro); err != nil {
		if out, err := exec.Command("npm", "install", "--prefix", dir, "--ignore-scripts", "--no-audit", "--no-fund", "amaro@1.2.1").CombinedOutput(); err != nil {
			missing(t, string(out))
		}
	}
	quoted, _ := json.Marshal([]string{amaro, file})
	strip := `const [amaro, file] = ` + string(quoted) + `; process.stdout.write(require(amaro).transformSync(require("fs").readFileSync(file, "utf8"), { mode: "strip-only" }).code)`
	plain, err := exec.Command("node", "--eval", strip).Output()
	if err != nil {
		t.Fatalf("taking the types out: %v", err)
	}
	out := strings.TrimSuffix(file, ".ts") + ".mjs"
	if err := os.WriteFile(out, plain, 0o644); err != nil {
		t.Fatal(err)
	}
	return []string{"node", out}
}

// asModule returns a copy of a program with the extension of a module.
func asModule(t *testing.T, file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	copied := strings.TrimSuffix(file, ".ts") + ".mts"
	if err := os.WriteFile(copied, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return copied
}

// docs/getting-started/other-agents.md has an example of every event, in a block that TestDocuments runs.
func TestEveryEventHasAnExample(t *testing.T) {
	var schema struct {
		OneOf []struct {
			Properties struct{ Event struct{ Const string } }
		}
	}
	data, err := os.ReadFile("../docs/generic-events.schema.json")
	if err == nil {
		err = json.Unmarshal(data, &schema)
	}
	if err != nil || len(schema.OneOf) < 12 {
		t.Fatalf("%d events: %v", len(schema.OneOf), err)
	}
	page := documents(t)["docs/getting-started/other-agents.md"]
	for _, one := range schema.OneOf {
		event := one.Properties.Event.Const
		if event == "" || !strings.Contains(page, `$ echo '{"event": "`+event+`"`) {
			t.Errorf("there is no example of %s", event)
		}
	}
}

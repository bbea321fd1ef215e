package claudecode

import (
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/host"
	"github.com/ctxls/ctxls/internal/host/shared"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

// The range of a window set for compaction, in tokens. The host clamps the environment's to it, and ignores a smaller one in its
// settings (seen with version 2.1.329).
const minAutoCompactWindow, maxAutoCompactWindow = 100_000, 1_000_000

// standardWindow is the window, in tokens, of every model once CLAUDE_CODE_DISABLE_1M_CONTEXT forbids the larger one.
const standardWindow = 200_000

// maxSettingsBytes is the largest settings file that is read: ~/.claude.json holds the history of every project.
const maxSettingsBytes = 16 << 20

// settingsFor returns the user's settings of where the host compacts, as the host reads them for a workspace: managed settings
// before those of the workspace and the user, the environment before all. What the command line of the host says cannot be seen.
func settingsFor(of host.Env) model.Settings {
	files := newSettingsFiles(of)
	env := func(name string) string { return files.variable(of, name) }
	s := model.Settings{
		MaxOutput:        wholeNumber(env("CLAUDE_CODE_MAX_OUTPUT_TOKENS")),
		MaxContext:       wholeNumber(env("CLAUDE_CODE_MAX_CONTEXT_TOKENS")),
		UnknownOnRefusal: isSet(env("CLAUDE_CODE_DISABLE_UNKNOWN_MODEL_WINDOW_ENFORCEMENT")),
		NeverCompacts:    isSet(env("DISABLE_COMPACT")),
		TrueCount:        quietCountdown(files.countdownMode(of)),
	}
	s.Off = s.NeverCompacts || isSet(env("DISABLE_AUTO_COMPACT")) || files.autoCompactOff()
	if isSet(env("CLAUDE_CODE_DISABLE_1M_CONTEXT")) {
		s.MaxWindow = standardWindow
	}
	if percent, err := strconv.ParseFloat(strings.TrimSpace(env("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE")), 64); err == nil && percent > 0 && percent <= 100 {
		s.Percent = percent
	}
	if window, ok := tokenAmount(env("CLAUDE_CODE_AUTO_COMPACT_WINDOW")); ok {
		s.Window = min(max(window, minAutoCompactWindow), maxAutoCompactWindow)
		return s
	}
	s.Window, s.ModelWindows = files.windows()
	return s
}

// settingsFiles are the texts of the host's settings files, the one that counts most first.
type settingsFiles struct {
	texts  [][]byte
	global []byte // ~/.claude.json
}

func newSettingsFiles(env host.Env) settingsFiles {
	user, global := env.Getenv("CLAUDE_CONFIG_DIR"), ""
	if user != "" {
		global = filepath.Join(user, ".claude.json")
	} else if env.Home != "" {
		user, global = filepath.Join(env.Home, ".claude"), filepath.Join(env.Home, ".claude.json")
	}
	places := []string{managedSettings()}
	if env.CWD != "" {
		places = append(places, filepath.Join(env.CWD, ".claude", "settings.local.json"), filepath.Join(env.CWD, ".claude", "settings.json"))
	}
	if user != "" {
		places = append(places, filepath.Join(user, "settings.json"))
	}
	var f settingsFiles
	for _, place := range places {
		if text := settingsText(place); text != nil {
			f.texts = append(f.texts, text)
		}
	}
	f.global = settingsText(global)
	return f
}

// managedSettings returns where an administrator's settings lie.
func managedSettings() string {
	switch runtime.GOOS {
	case "darwin":
		return "/Library/Application Support/ClaudeCode/managed-settings.json"
	case "windows":
		return `C:\Program Files\ClaudeCode\managed-settings.json`
	}
	return "/etc/claude-code/managed-settings.json"
}

// settingsText returns what a file holds, nil where there is no regular file of a usual size.
func settingsText(path string) []byte {
	if path == "" {
		return nil
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || info.Size() > maxSettingsBytes {
		return nil
	}
	text, err := shared.ReadFile(path)
	if err != nil || !transcript.Pick(text) { // the host takes no file that is not whole
		return nil
	}
	return text
}

// first returns the member of the first file that has it, nil where none has.
func (f settingsFiles) first(name string) (value []byte) {
	for _, text := range f.texts {
		if transcript.Pick(text, transcript.Field{Name: name, Value: &value}); value != nil {
			return value
		}
	}
	return nil
}

// variable returns a variable of the host's environment. The settings set some of them, too late for a process that was started before.
func (f settingsFiles) variable(env host.Env, name string) string {
	if value := env.Getenv(name); value != "" {
		return value
	}
	return f.env(name)
}

// env returns a variable that the settings set.
func (f settingsFiles) env(name string) string {
	for _, text := range f.texts {
		var env, value []byte
		transcript.Pick(text, transcript.Field{Name: "env", Value: &env})
		if transcript.Pick(env, transcript.Field{Name: name, Value: &value}); value != nil {
			if s := transcript.String(value); s != "" {
				return s
			}
			return string(value) // a bare number
		}
	}
	return ""
}

// autoCompactOff reports whether a file says that the host shall not compact by itself.
func (f settingsFiles) autoCompactOff() bool {
	var global []byte
	transcript.Pick(f.global, transcript.Field{Name: "autoCompactEnabled", Value: &global})
	return string(f.first("autoCompactEnabled")) == "false" || string(global) == "false"
}

// windows returns the window that is set for compaction for every model, 0 for none, and those of single models, by plain name; 0
// there says that the former does not hold for that model.
func (f settingsFiles) windows() (every int, byModel map[string]int) {
	if n, ok := settingsWindow(f.first("autoCompactWindow")); ok {
		every = n
	}
	for _, text := range f.texts {
		var models []byte
		transcript.Pick(text, transcript.Field{Name: "modelSettings", Value: &models})
		transcript.Members(models, func(key, value []byte) bool {
			var window []byte
			transcript.Pick(value, transcript.Field{Name: "autoCompactWindow", Value: &window})
			n, ok := settingsWindow(window)
			plain := model.Plain(string(key))
			if _, stated := byModel[plain]; stated || !ok && transcript.String(window) != "auto" {
				return true
			}
			if byModel == nil {
				byModel = map[string]int{}
			}
			byModel[plain] = n
			return true
		})
	}
	return every, byModel
}

// settingsWindow reads a window in tokens. One that is too small does not count.
func settingsWindow(value []byte) (int, bool) {
	n := transcript.Int(value)
	return n, n >= minAutoCompactWindow
}

// tokenAmount reads a number of tokens as the host does in its environment: "150000", "150,000", "500k", "0.5m".
func tokenAmount(s string) (int, bool) {
	s = strings.ReplaceAll(strings.ToLower(strings.TrimSpace(s)), ",", "")
	unit := 1.0
	if rest, ok := strings.CutSuffix(s, "k"); ok {
		s, unit = rest, 1_000
	} else if rest, ok := strings.CutSuffix(s, "m"); ok {
		s, unit = rest, 1_000_000
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || !(n > 0) {
		return 0, false
	}
	return int(math.Min(n*unit, 1e9)), true
}

// wholeNumber returns the number that s is, 0 where it is none or none that can be meant.
func wholeNumber(s string) int {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil || n < 0 || n > 1e9 {
		return 0
	}
	return n
}

// isSet reports whether a variable of the environment says yes.
func isSet(value string) bool {
	switch strings.ToLower(strings.TrimSpace(value)) {
	case "1", "true", "yes", "on":
		return true
	}
	return false
}

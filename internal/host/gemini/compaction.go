package gemini

import (
	"cmp"
	"path/filepath"
	"runtime"
	"strconv"

	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/host"
	"github.com/ctxls/ctxls/internal/host/settings"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

// maxSettingsBytes is how much of a settings file is read.
const maxSettingsBytes = 1 << 20

// settingsFor returns the user's settings of where Gemini CLI compacts: model.compressionThreshold, a share of the window. By its
// documentation and its source, the machine's settings count before those of the project, then come the user's and the machine's
// defaults. Gemini CLI runs hooks only where it trusts the project, so that the project's settings count wherever this runs.
//
// A threshold of 0 is no threshold for Gemini CLI. Above 1 it never compacts by itself.
func settingsFor(env host.Env) (s model.Settings) {
	machine := cmp.Or(env.Getenv("GEMINI_CLI_SYSTEM_SETTINGS_PATH"), filepath.Join(machineDir(), "settings.json"))
	defaults := cmp.Or(env.Getenv("GEMINI_CLI_SYSTEM_DEFAULTS_PATH"), filepath.Join(filepath.Dir(machine), "system-defaults.json"))
	files := []string{machine}
	if filepath.IsAbs(env.CWD) {
		files = append(files, Installer{}.SettingsFile(settings.Project, env))
	}
	for _, file := range append(files, Installer{}.SettingsFile(settings.User, env), defaults) {
		threshold, ok := compressionThreshold(file)
		switch {
		case !ok:
			continue
		case threshold > 1:
			s.Off = true
		case threshold > 0:
			s.Share = threshold
		}
		return s
	}
	return s
}

// compressionThreshold returns model.compressionThreshold of a settings file; ok is false where the file has none.
func compressionThreshold(path string) (share float64, ok bool) {
	text, err := transcript.Head(path, maxSettingsBytes)
	if err != nil {
		return 0, false
	}
	doc, err := settings.Parse(path, text) // the host takes comments, too
	if err != nil {
		return 0, false
	}
	share, err = strconv.ParseFloat(doc.Raw("model", "compressionThreshold"), 64)
	return share, err == nil
}

// machineDir returns the directory of the settings that hold for every user of the machine.
func machineDir() string {
	switch runtime.GOOS {
	case "darwin":
		return "/Library/Application Support/GeminiCli"
	case "windows":
		return `C:\ProgramData\gemini-cli`
	}
	return "/etc/gemini-cli"
}

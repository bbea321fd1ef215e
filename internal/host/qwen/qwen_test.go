package qwen

import (
	"strings"
	"testing"

	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/hosttest"
)

// Every payload that was captured from the host, and what it is decoded to.
func TestDecodeCapturedPayloads(t *testing.T) { hosttest.Payloads(t, New(), nil) }

// Every captured record, read at first sight and read from its second line on.
func TestReadCapturedRecords(t *testing.T) { hosttest.Transcripts(t, New(), "transcripts") }

// Every captured record: what is visited of it, newest first, and what fills the window by it.
func TestScanCapturedRecords(t *testing.T) { hosttest.Scans(t, New(), "transcripts") }

// What is written stays, and what is taken out gives every byte back.
func TestInstall(t *testing.T) { hosttest.Install(t, Host.Installer) }

// On Windows the hook names PowerShell: Qwen Code would run it in cmd.exe, PowerShell or Git Bash, wherever it was started from, and
// Git Bash takes \ away. What an older ctxls wrote is put right.
func TestInstallNamesTheShellOnWindows(t *testing.T) {
	const program = `C:\it's mine\ctxls.exe`
	want := `"command": "& 'C:\\it''s mine\\ctxls.exe' hook qwen-code", "shell": "powershell", "timeout": 5}`
	text, _, err := Host.Installer.Install("settings.json", nil, program, false)
	if err != nil || strings.Count(string(text), want) != len(Hooks) {
		t.Errorf("%v: want %s in\n%s", err, want, text)
	}
	old := strings.ReplaceAll(string(text), want, `"command": "cmd /d /c \"C:\\it's mine\\ctxls.exe\" hook qwen-code", "timeout": 5}`)
	for again := range 2 {
		moved, done, err := Host.Installer.Install("settings.json", []byte(old), program, false)
		if err != nil || len(done) != 1-again || strings.Count(string(moved), `"timeout": 5, "shell": "powershell"`) != len(Hooks) {
			t.Errorf("%v, %q:\n%s", err, done, moved)
		}
		old = string(moved)
	}
	if left, _, err := Host.Installer.Uninstall("settings.json", []byte(old), nil); err != nil || left != nil {
		t.Errorf("left %s, %v", left, err)
	}
}

func FuzzInstall(f *testing.F) { hosttest.FuzzInstall(f, Host.Installer) }

func FuzzDecode(f *testing.F) {
	hosttest.FuzzHooks(f, New(), func(ev session.Event) bool { return accepts(ev.Name) != nil }, maxInstructions)
}

func FuzzRead(f *testing.F) { hosttest.FuzzReads(f, New(), "transcripts", "session.jsonl") }

// What a hook of no session, or of no event, says is refused.
func TestDecodeRefusesWhatIsNoPayload(t *testing.T) { hosttest.Refused(t, New()) }

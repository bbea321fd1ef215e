package pi

import (
	"testing"

	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/hosttest"
)

// Every event that the extension said, and what it is decoded to.
func TestDecodeCapturedPayloads(t *testing.T) { hosttest.Payloads(t, New(), nil) }

// Every captured record, read at first sight and read from its second line on.
func TestReadCapturedRecords(t *testing.T) { hosttest.Transcripts(t, New(), "transcripts") }

// Every captured record: what is visited of it, newest first, and what fills the window by it.
func TestScanCapturedRecords(t *testing.T) { hosttest.Scans(t, New(), "transcripts") }

// What a hook of no session, or of no event, says is refused.
func TestDecodeRefusesWhatIsNoPayload(t *testing.T) { hosttest.Refused(t, New()) }

func FuzzDecode(f *testing.F) {
	hosttest.FuzzHooks(f, New(), func(ev session.Event) bool { return accepts(ev.Name) != nil }, session.MaxInjectedChars)
}

func FuzzRead(f *testing.F) {
	hosttest.FuzzReads(f, New(), "transcripts", "2026-11-22T07-56-26-014Z_01a20241-a41d-713d-97cf-35e1737d88f9.jsonl")
}

// Another file of that name stays; ours is added, found again, moved and removed.
func TestInstall(t *testing.T) {
	i := Host.Installer
	text, done, err := i.Install("ctxls.ts", nil, "/opt/a b/ctxls", false)
	if own := i.Installed(text); err != nil || len(done) != 1 || len(own) != 1 || own[0].Program != "/opt/a b/ctxls" {
		t.Fatalf("%v, %q, %+v", err, done, own)
	}
	if again, done, err := i.Install("ctxls.ts", text, "/opt/a b/ctxls", false); err != nil || len(done) > 0 || string(again) != string(text) {
		t.Errorf("again: %v, %q", err, done)
	}
	if _, done, err := i.Install("ctxls.ts", text, "/bin/ctxls", false); err != nil || len(done) != 1 {
		t.Errorf("moved: %v, %q", err, done)
	}
	if left, done, err := i.Uninstall("ctxls.ts", text, nil); err != nil || len(done) != 1 || left != nil {
		t.Errorf("removed: %v, %q", err, done)
	}
	mine := []byte("export default () => {}\n")
	if _, _, err := i.Install("ctxls.ts", mine, "/bin/ctxls", false); err == nil {
		t.Error("a file of the user's was replaced")
	}
	if left, done, err := i.Uninstall("ctxls.ts", mine, nil); err != nil || len(done) > 0 || string(left) != string(mine) {
		t.Errorf("a file of the user's: %v, %q", err, done)
	}
}

package qwen

import (
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

func FuzzInstall(f *testing.F) { hosttest.FuzzInstall(f, Host.Installer) }

func FuzzDecode(f *testing.F) {
	hosttest.FuzzHooks(f, New(), func(ev session.Event) bool { return accepts(ev.Name) != nil }, maxInstructions)
}

func FuzzRead(f *testing.F) { hosttest.FuzzReads(f, New(), "transcripts", "session.jsonl") }

// What a hook of no session, or of no event, says is refused.
func TestDecodeRefusesWhatIsNoPayload(t *testing.T) { hosttest.Refused(t, New()) }

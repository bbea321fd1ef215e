package claudecode

import (
	"testing"

	"github.com/ctxls/ctxls/internal/host/hosttest"
)

// Every payload that was captured from the host, and what it is decoded to.
func TestDecodeCapturedPayloads(t *testing.T) {
	hosttest.Payloads(t, New(nil), func(event string) string {
		if event == "StatusLine" { // it does not name itself
			return event
		}
		return ""
	})
}

// Every captured transcript, read at first sight and read from its second line on.
func TestReadCapturedTranscripts(t *testing.T) { hosttest.Transcripts(t, New(nil), "transcripts") }

// Every captured transcript: what is visited of it, newest first, and what fills the window by it.
func TestScanCapturedTranscripts(t *testing.T) { hosttest.Scans(t, New(nil), "transcripts") }

// Every captured transcript, read back past its compactions.
func TestHistoryOfCapturedTranscripts(t *testing.T) {
	hosttest.Histories(t, New(nil), Records{}, "transcripts")
}

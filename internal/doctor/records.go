package doctor

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/ctxls/ctxls/internal/check"
	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/host"
	"github.com/ctxls/ctxls/internal/host/registry"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

const (
	// maxRecords is how many records of a host are read: the newest.
	maxRecords = 20
	// soundBytes is the size, in bytes, from which a record holds more than what a host writes before the first prompt.
	soundBytes = 4 << 10
	// headBytes is how much of a record is searched for the version of the host that wrote it.
	headBytes = 64 << 10
)

// checkRecords reads the newest records of each host. It adds a line only for a host with records that cannot be read.
func (d *doctor) checkRecords(ctx context.Context) {
	d.group = "sessions"
	for _, h := range registry.Recording() {
		if !d.asked(h.Name) || !d.cfg.Discovery.Reads(string(h.Name)) {
			continue
		}
		hint := fmt.Sprintf("they are not in lists; a newer ctxls may read them, and 'ctxls install %s' shows new sessions without them", h.Name)
		by := h.Records(d.Env)
		records, err := by.Find(ctx, time.Time{})
		if err != nil {
			d.add(check.Warn, "records", fmt.Sprintf("those of %s cannot be read: %v", h.Name, err), hint)
			continue
		}
		records = records[:min(len(records), maxRecords)]
		unread := slices.DeleteFunc(slices.Clone(records), func(r core.Record) bool { return wrong(ctx, by, r) == "" })
		if len(unread) == 0 {
			continue
		}
		newest := unread[0]
		what := fmt.Sprintf("%d of the newest %d of %s cannot be read, such as %s%s: %s", len(unread), len(records), h.Name, newest.Path, writtenBy(h, newest.Path), wrong(ctx, by, newest))
		d.add(check.Warn, "records", what, hint)
	}
}

// wrong says why a record cannot be read; "" is that it can.
func wrong(ctx context.Context, by core.Recorder, r core.Record) string {
	events, err := by.Read(ctx, r, true)
	if err != nil {
		return err.Error()
	}
	files, entries := 0, 0
	for _, ev := range events {
		if ev.Reading != nil {
			files, entries = files+1, entries+len(ev.Reading.Entries)
		}
	}
	if files > 0 && entries == 0 && r.Size >= soundBytes {
		return "nothing in it is known"
	}
	return ""
}

// version matches the member in which hosts write their version, in whole records and in broken ones.
var version = regexp.MustCompile(`"(?:cli_version|version)":\s*"?([0-9][0-9A-Za-z.+-]{0,40})`)

// writtenBy says which version of a host wrote a record; "" is unknown.
func writtenBy(h host.Host, path string) string {
	data, err := transcript.Head(path, headBytes)
	found := version.FindSubmatch(data)
	if err != nil || found == nil {
		return ""
	}
	return fmt.Sprintf(" (written by %s %s)", h.Title, found[1])
}

//go:build linux && e2e

package e2e

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxls/ctxls/internal/core"
)

// WantRecords makes sure that the hosts' records tell what the hooks told: with an empty state, the list of sessions has the same
// figures. Only the source, the times of the events of hooks, and what they told of the session's end are different.
func (w *Sandbox) WantRecords(when string) {
	w.T.Helper()
	var recorded []core.SessionView
	list := w.Command(w.T.Context(), CTXLSBin(), "sessions", "--all", "--json")
	list.Env = append(list.Env, "XDG_STATE_HOME="+w.T.TempDir())
	out, err := list.Output()
	if err == nil {
		err = json.Unmarshal(out, &recorded)
	}
	if err != nil {
		w.T.Fatal(err)
	}
	for _, s := range recorded {
		if s.Source != core.SourceRecord {
			w.T.Errorf("%s: %s does not come from its record", when, s.SessionID)
		}
	}
	if diff := cmp.Diff(withoutHooks(w.Sessions()), withoutHooks(recorded)); diff != "" {
		w.T.Errorf("%s: what the records tell (-hooks +records):\n%s", when, diff)
	}
}

// withoutHooks returns sessions in a fixed order without what records cannot tell.
func withoutHooks(sessions []core.SessionView) []core.SessionView {
	slices.SortFunc(sessions, func(a, b core.SessionView) int { return strings.Compare(a.SessionID, b.SessionID) })
	for i := range sessions {
		s := &sessions[i]
		s.Source, s.State, s.StartedAt, s.UpdatedAt, s.EndedAt = "", "", time.Time{}, time.Time{}, nil
		slices.Sort(s.WorkingSet)
	}
	return sessions
}

package claudecode

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/survival"
)

// A hook waits while the record is read: prompts come from all windows, commands from the last ones only. Where the role stands does not
// matter, nor does an answer that says what a call looks like.
func TestHistoryOfManyWindows(t *testing.T) {
	var record strings.Builder
	for n := 1; n <= 5; n++ {
		fmt.Fprintf(&record, `{"type":"user","message":{"role":"user","content":"Never edit the files of part %d by hand."}}`+"\n", n)
		fmt.Fprintf(&record, `{"type":"assistant","message":{"model":"m","id":"msg_%da","role":"assistant","content":[{"type":"text","text":"A call is \\"tool_use\\", see %s."}],"usage":{"input_tokens":%d}}}`+"\n", n, strings.Repeat("x", 2000), n)
		fmt.Fprintf(&record, `{"long":"%s","type":"assistant","message":{"model":"m","id":"msg_%db","content":[{"type":"tool_use","id":"t%d","name":"Bash","input":{"command":"make part%d"}}],"role":"assistant","usage":{"input_tokens":%d}}}`+"\n", strings.Repeat("x", 2000), n, n, n, 10+n)
		fmt.Fprintf(&record, `{"type":"user","message":{"role":"user","content":[{"tool_use_id":"t%d","type":"tool_result","content":"no","is_error":true}]}}`+"\n", n)
		fmt.Fprintf(&record, `{"type":"system","subtype":"compact_boundary","uuid":"b%d","compactMetadata":{"trigger":"auto","preTokens":160000}}`+"\n", n)
	}
	path := filepath.Join(t.TempDir(), "s.jsonl")
	if err := os.WriteFile(path, []byte(record.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	c := survival.Collector{Tools: New(nil).Rules().Tools}
	if err := (Records{}).History(t.Context(), core.Record{Path: path}, false, func(e session.Entry) bool {
		c.Add(e)
		return true
	}); err != nil {
		t.Fatal(err)
	}
	past := c.Past()
	var got []string
	for _, p := range past.Prompts {
		got = append(got, fmt.Sprint(p.Window, " ", p.Text))
	}
	for _, command := range past.Commands {
		got = append(got, fmt.Sprint(command.Text, " ", command.Failed, " ", command.Ago))
	}
	want := []string{"0 Never edit the files of part 5 by hand.", "1 Never edit the files of part 4 by hand.", "2 Never edit the files of part 3 by hand.",
		"3 Never edit the files of part 2 by hand.", "4 Never edit the files of part 1 by hand.", "make part5 true 0", "make part4 true 2"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

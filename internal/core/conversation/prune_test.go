package conversation

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ctxls/ctxls/internal/core/plan"
)

// openCodeSession is a session that reads and then rewrites a whole file, with given numbers of turns before and after.
func openCodeSession(before, after int) (messages []string) {
	n := 0
	add := func(role, parts string) {
		n++
		messages = append(messages, fmt.Sprintf(`{"info":{"id":"m%d","role":%q},"parts":[%s]}`, n, role, parts))
	}
	turn := func() {
		add("user", fmt.Sprintf(`{"id":"p%d","type":"text","text":"go on"}`, n))
		add("assistant", fmt.Sprintf(`{"id":"p%d","type":"text","text":"done"}`, n))
	}
	for range before {
		turn()
	}
	add("user", `{"id":"ask","type":"text","text":"mend it"}`)
	add("assistant", `{"id":"read","type":"tool","tool":"read","callID":"1","state":{"status":"completed","input":{"filePath":"/a"},"output":`+quote(strings.Repeat("the first version of it, line by line\n", 300))+`}}`)
	add("assistant", `{"id":"write","type":"tool","tool":"write","callID":"2","state":{"status":"completed","input":{"filePath":"/a","content":"new"},"output":"ok"}}`)
	for range after {
		turn()
	}
	return messages
}

func TestPrune(t *testing.T) {
	s := plan.Situation{}
	ids := func(r PruneResult) (ids []string) {
		for _, p := range r.Pruned {
			ids = append(ids, p.PartID+" "+string(p.What))
		}
		return ids
	}
	ask := func(req PruneRequest, messages []string) PruneResult {
		t.Helper()
		req.Conversation = conversation(messages...)
		r, err := testMeter().Prune(req)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	first := ask(PruneRequest{Situation: s}, openCodeSession(30, 4))
	if got := ids(first); !slices.Equal(got, []string{"read output"}) || len(first.New) != 1 || !isPlaceholderText(first.Pruned[0].Text) {
		t.Fatalf("got %v with %d new", got, len(first.New))
	}
	for _, tt := range []struct {
		name     string
		req      PruneRequest
		messages []string
		want     []string
		fresh    int
	}{
		{"it does not pay yet", PruneRequest{}, append(openCodeSession(0, 4), `{"info":{"id":"big","role":"assistant"},"parts":[{"id":"x","type":"text","text":`+quote(strings.Repeat("and so on, ", 20_000))+`}]}`), nil, 0},
		{"the newest are left alone", PruneRequest{}, openCodeSession(30, 1), nil, 0},
		{"what was left out stays out, though it would not be cut today", PruneRequest{Known: first.Pruned, Frozen: true}, openCodeSession(30, 1), []string{"read output"}, 0},
		{"what was left out is not cut again", PruneRequest{Known: first.Pruned}, openCodeSession(30, 6), []string{"read output"}, 0},
		{"what is gone from the conversation is forgotten", PruneRequest{Known: []Pruned{{PartID: "other", What: PrunedOutput}}}, openCodeSession(30, 1), nil, 0},
		{"nothing new while frozen", PruneRequest{Frozen: true}, openCodeSession(30, 4), nil, 0},
		{"near the compaction it need not pay", PruneRequest{Tokens: 95_000, Situation: plan.Situation{CompactsAt: 100_000, Growth: 50_000}}, openCodeSession(1, 4), []string{"read output"}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if r := ask(tt.req, tt.messages); !slices.Equal(ids(r), tt.want) || len(r.New) != tt.fresh {
				t.Errorf("got %v with %d new, want %v with %d", ids(r), len(r.New), tt.want, tt.fresh)
			}
		})
	}
}

func isPlaceholderText(s string) bool {
	return strings.HasPrefix(s, placeholderStart) && strings.HasSuffix(s, placeholderEnd)
}

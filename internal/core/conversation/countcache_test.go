package conversation

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ctxls/ctxls/internal/core/token"
)

// counting records the number of counted texts.
type counting struct {
	token.Counter
	texts *atomic.Int64
}

func (c counting) Count(text string) int {
	c.texts.Add(1)
	return c.Counter.Count(text)
}

func countingMeter() (*Meter, *atomic.Int64) {
	var texts atomic.Int64
	meter := testMeter()
	counter := meter.counter
	meter.counter = func(encoding string) (token.Counter, error) {
		c, err := counter(encoding)
		return counting{c, &texts}, err
	}
	return meter, &texts
}

func TestMeasureCountsOnlyWhatIsNew(t *testing.T) {
	meter, texts := countingMeter()
	var messages []string
	for i := range 50 {
		messages = append(messages, user(fmt.Sprintf("message %d", i)))
		if _, err := meter.Measure(MeasureRequest{Conversation: conversation(messages...)}); err != nil {
			t.Fatal(err)
		}
		if got := texts.Load(); got != int64(i+1) {
			t.Fatalf("%d messages: counted %d texts, want %d", i+1, got, i+1)
		}
	}
	if _, err := meter.Trim(TrimRequest{Conversation: conversation(messages...), TargetTokens: new(10)}); err != nil || texts.Load() != 50 {
		t.Errorf("Trim counted %d texts again, %v", texts.Load()-50, err)
	}
	if _, err := meter.Measure(MeasureRequest{Conversation: Conversation{Messages: conversation(messages[0]).Messages, Encoding: "o200k_base"}}); err != nil || texts.Load() != 51 {
		t.Errorf("another encoding counted %d texts, %v; want 1", texts.Load()-50, err)
	}
}

// A tool definition is not confused with a message, or a system prompt, of the same bytes.
func TestMeasureSameBytesElsewhere(t *testing.T) {
	meter := testMeter()
	same := []byte(`[{"type":"text","text":"hi"}]`)
	c := conversation()
	c.System, c.Tools = same, same
	got, err := meter.Measure(MeasureRequest{Conversation: c, Breakdown: true})
	if err != nil || got.ByRole["system"] != count("hi") || got.ByRole["tools"] != count(`{"type":"text","text":"hi"}`) {
		t.Errorf("got %v, %v", got.ByRole, err)
	}
}

func TestCountCacheIsBounded(t *testing.T) {
	var c countCache
	key := func(i int) cacheKey { return cacheKey{content: [2]uint64{uint64(i)}} }
	first := &digest{role: "first"}
	c.put(key(0), first)
	for i := 1; i < 200_000; i++ {
		c.put(key(i), &digest{role: "user", calls: []ref{{id: "an id of some length"}}})
		if c.size > cacheBytes/2 {
			t.Fatalf("%d entries: a generation takes %d bytes", i, c.size)
		}
		if c.get(key(0)) != first {
			t.Fatalf("%d entries: what is asked for all the time is gone", i)
		}
	}
	if c.get(key(1)) != nil {
		t.Error("what nobody asked for is still there")
	}
	if n := len(c.young) + len(c.old); n < 10_000 || n > 60_000 {
		t.Errorf("%d entries are kept", n)
	}
	for range 200_000 {
		c.put(key(199_999), first)
	}
	if c.get(key(199_990)) == nil {
		t.Error("putting what is there pushed something out")
	}
	c.put(key(-1), &digest{bodies: make([]body, 1_000_000)})
	if c.get(key(-1)) != nil {
		t.Error("an entry larger than a generation is kept")
	}
}

func TestMeterIsSafeForConcurrentUse(t *testing.T) {
	meter := testMeter()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 200 {
				c := conversation(user("first"), user(fmt.Sprint(i)))
				if got, err := meter.Measure(MeasureRequest{Conversation: c}); err != nil || got.Tokens != counts("first", fmt.Sprint(i)) {
					t.Errorf("got %d, %v", got.Tokens, err)
				}
			}
		})
	}
	all.Wait()
}

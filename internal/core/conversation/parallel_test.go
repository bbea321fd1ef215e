package conversation

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
)

func TestInParallel(t *testing.T) {
	for range 200 {
		var done [100]atomic.Int32
		if i, err := inParallel(4, len(done), func(i int) error { done[i].Add(1); return nil }); err != nil {
			t.Fatal(i, err)
		}
		for i := range done {
			if n := done[i].Load(); n != 1 {
				t.Fatalf("%d was done %d times", i, n)
			}
		}
		i, err := inParallel(4, 100, func(i int) error {
			if i%10 == 7 {
				return errors.New(fmt.Sprint(i))
			}
			return nil
		})
		if i != 7 || err == nil || err.Error() != "7" {
			t.Fatalf("the first to fail is 7, got %d: %v", i, err)
		}
	}
	if i, err := inParallel(4, 0, nil); i != 0 || err != nil {
		t.Error(i, err)
	}
	defer func() {
		if p := recover(); p != "no" {
			t.Errorf("recovered %v", p)
		}
	}()
	_, _ = inParallel(4, 100, func(i int) error { panic("no") })
	t.Error("a panic was swallowed")
}

// The count of a large conversation is the sum over its messages. An error names the first wrong message.
func TestMeasureLargeConversation(t *testing.T) {
	var messages []string
	want := 0
	for i := range 400 {
		text := fmt.Sprintf("%d %s", i, strings.Repeat("some words of it ", 40))
		one, err := testMeter().Measure(MeasureRequest{Conversation: Conversation{Messages: []byte(`[{"role":"user","content":"` + text + `"}]`)}})
		if err != nil {
			t.Fatal(err)
		}
		want += one.Tokens
		messages = append(messages, `{"role":"user","content":"`+text+`"}`)
	}
	all, err := testMeter().Measure(MeasureRequest{Conversation: Conversation{Messages: []byte("[" + strings.Join(messages, ",") + "]")}})
	if err != nil || all.Tokens != want {
		t.Errorf("%d tokens (%v), want %d", all.Tokens, err, want)
	}
	messages[123], messages[124], messages[399] = `{"role":"user","content":1}`, `{"role":"user","content":true}`, `{"role":"user","content":2}`
	for range 20 {
		_, err = testMeter().Measure(MeasureRequest{Conversation: Conversation{Messages: []byte("[" + strings.Join(messages, ",") + "]")}})
		if err == nil || !strings.Contains(err.Error(), "messages[123].content") {
			t.Fatalf("got %v", err)
		}
	}
}

package test

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"
)

// Two processes cross the alert rate at the same time. Together they cause one alert, and both clients get it once.
func TestTwoProcessesCrossingAtOnceGiveOneAlert(t *testing.T) {
	bin := buildAll(t)
	for round := range 10 {
		home := t.TempDir()
		editors := []*editor{startEditor(t, bin, home), startEditor(t, bin, home)}
		for _, e := range editors { // an earlier notification is about earlier changes
			e.ask("metrics/record", `{"taskId":"small","tokens":1}`)
			e.settle(t, home, bin)
		}
		var group sync.WaitGroup
		var mu sync.Mutex
		alerted := 0
		begin := make(chan struct{})
		for i, e := range editors {
			group.Go(func() {
				<-begin
				for n := range 5 {
					var result struct{ Alerted bool }
					json.Unmarshal(e.ask("metrics/record", fmt.Sprintf(`{"taskId":"large %d %d","tokens":250000}`, i, n)), &result)
					if result.Alerted {
						mu.Lock()
						alerted++
						mu.Unlock()
					}
				}
			})
		}
		close(begin)
		group.Wait()
		if alerted != 1 {
			t.Errorf("round %d: %d tasks raised the alert", round, alerted)
		}
		for i, e := range editors {
			e.settle(t, home, bin) // an alert follows the changes of the same poll
			e.settle(t, home, bin)
			if alerts := e.alerted(); alerts != 1 {
				t.Errorf("round %d: client %d is told of %d alerts", round, i, alerts)
			}
		}
	}
}

// settle waits until the client is notified of a change that follows all others.
func (e *editor) settle(t *testing.T, home, bin string) {
	t.Helper()
	e.settled++
	id := fmt.Sprintf("settled %p %d", e, e.settled)
	prompted(t, bin, home, id, home, 0)
	for limit := time.Now().Add(30 * time.Second); e.heard()[id] == ""; time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("the client is not told of a change")
		}
	}
}

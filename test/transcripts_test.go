package test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// recorded is a host that records conversations in a file. It has the file's name, an event that makes a hook read it,
// and a line of a response with the given tokens in its window.
type recorded struct {
	name, event string
	line        func(tokens int, at time.Time) string
}

var recordings = map[string]recorded{
	"claude-code": {"session.jsonl", `"hook_event_name":"PostToolBatch","tool_calls":[]`, answer},
	"codex": {"rollout-2026-11-21T09-51-56-01a1fd85-06f1-79d2-92ec-ec01e78a094c.jsonl", `"hook_event_name":"Stop","turn_id":"t"`, func(tokens int, at time.Time) string {
		return fmt.Sprintf(`{"timestamp":%q,"type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":{"input_tokens":%d,"cached_input_tokens":0,"output_tokens":7,"total_tokens":%d},"model_context_window":258400}}}`+"\n",
			at.UTC().Format(time.RFC3339Nano), tokens-7, tokens)
	}},
	"gemini-cli": {"session-2026-11-21T09-55-5dd3f05d.jsonl", `"hook_event_name":"AfterAgent"`, func(tokens int, at time.Time) string {
		return fmt.Sprintf(`{"id":"m%d","timestamp":%q,"type":"gemini","content":"ok","thoughts":[],"tokens":{"input":%[1]d,"output":7,"cached":0,"total":%[1]d},"model":"gemini-2.5-pro"}`+"\n",
			tokens, at.UTC().Format(time.RFC3339Nano))
	}},
}

// paper is the record of one conversation, which the test changes in every way.
type paper struct {
	*machine
	host, path string
	recorded
	tokens int // the tokens in the last generated line
}

// next returns a line that reports some more tokens than the last.
func (p *paper) next() string {
	p.tokens += 100
	return p.line(p.tokens, time.Now())
}

func (p *paper) write(text string) {
	p.t.Helper()
	if err := os.WriteFile(p.path, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

func (p *paper) add(text string) { p.t.Helper(); appendTo(p.t, p.path, text) }

// must ends the test if a change of the file fails.
func (p *paper) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// read runs a hook that reads the record, and returns the session's tokens, or -1 if unknown.
func (p *paper) read(session string) int {
	p.t.Helper()
	p.heard(p.host, fmt.Sprintf(`{"session_id":%q,"transcript_path":%q,"cwd":"/p",%s}`, session, p.path, p.event))
	if tokens := p.sessions()[session].Usage.Tokens; tokens != nil {
		return *tokens
	}
	return -1
}

// After any change of a host's record between two hooks, a hook ends normally, and the gauge shows the last readable
// report.
func TestRecordsThatChange(t *testing.T) {
	const huge = 60 << 20
	steps := []struct {
		what string
		do   func(p *paper)
		gone bool // nothing can be read that was not known
	}{
		{"begins", func(p *paper) { p.write(p.next()) }, false},
		{"grows", func(p *paper) { p.add(p.next() + p.next()) }, false},
		{"does not grow", func(p *paper) {}, false},
		{"has half a line", func(p *paper) { line := p.next(); p.tokens -= 100; p.add(line[:len(line)/2]) }, true},
		{"goes on in the middle of it", func(p *paper) { p.add("\n" + p.next()) }, false},
		{"has a line with CRLF", func(p *paper) { p.add(strings.ReplaceAll(p.next()+p.next(), "\n", "\r\n")) }, false},
		{"has blank lines", func(p *paper) { p.add("\n\r\n  \n" + p.next() + "\n\n") }, false},
		{"has NUL bytes between lines", func(p *paper) { p.add(strings.Repeat("\x00", 5000) + "\n" + p.next()) }, false},
		{"has NUL bytes at a line's start", func(p *paper) { line := p.next(); p.add("\x00\x00" + line + p.next()) }, false},
		{"has a line that is no UTF-8", func(p *paper) { p.add("\xff\xfe{\"type\":\"\xc3\x28\"}\n" + p.next()) }, false},
		{"has garbage", func(p *paper) { p.add("}{][\n" + strings.Repeat("[", 10_000) + "\n5\nnull\n" + p.next()) }, false},
		{"has a line of 60 MB", func(p *paper) {
			p.add(`{"type":"attachment","content":"` + strings.Repeat("x", huge) + "\"}\n" + p.next())
		}, false},
		{"has a line of 60 MB that is not at its end", func(p *paper) { p.add(`{"type":"attachment","content":"` + strings.Repeat("x", huge)) }, true},
		{"has its end, and more", func(p *paper) { p.add("\"}\n" + p.next()) }, false},
		{"is cut to nothing", func(p *paper) { p.must(os.Truncate(p.path, 0)) }, true},
		{"goes on from nothing", func(p *paper) { p.add(p.next()) }, false},
		{"is cut and grows beyond where it was", func(p *paper) {
			p.must(os.Truncate(p.path, 0))
			p.add(strings.Repeat("{}\n", 5000) + p.next())
		}, false},
		{"is cut in the middle of a line", func(p *paper) {
			info, err := os.Stat(p.path)
			p.must(err)
			p.must(os.Truncate(p.path, info.Size()-20))
		}, true},
		{"goes on after that", func(p *paper) { p.add("\n" + p.next()) }, false},
		{"is replaced", func(p *paper) {
			other := p.path + ".new"
			p.must(os.WriteFile(other, []byte(p.next()+p.next()), 0o600))
			p.must(os.Rename(other, p.path))
		}, false},
		{"is replaced by one of the same length", func(p *paper) {
			info, err := os.Stat(p.path)
			p.must(err)
			line, other := p.next(), p.path+".new"
			p.must(os.WriteFile(other, []byte(strings.Repeat("\n", int(info.Size())-len(line))+line), 0o600))
			p.must(os.Rename(other, p.path))
		}, false},
		{"is rotated", func(p *paper) { p.must(os.Rename(p.path, p.path+".1")); p.write(p.next()) }, false},
		{"is gone", func(p *paper) { p.must(os.Remove(p.path)) }, true},
		{"is a directory", func(p *paper) { p.must(os.Mkdir(p.path, 0o700)) }, true},
		{"is there again", func(p *paper) {
			p.must(os.Remove(p.path))
			p.write("{}\n" + p.next()) // a file of the same length in the same place on the disk could not be told from the one before
		}, false},
		{"has 1 GB of nothing", func(p *paper) {
			switch {
			case testing.Short():
				p.t.Log("1 GB is left out of a short test")
			case runtime.GOOS == "windows":
				p.t.Log("a gigabyte takes its place on the disk on Windows: left out")
			default:
				p.must(os.Truncate(p.path, 1<<30)) // takes no place
			}
			p.add("\n" + p.next())
		}, false},
	}
	for host, r := range recordings {
		t.Run(host, func(t *testing.T) {
			m := newMachine(t)
			p := &paper{m, host, filepath.Join(m.home, r.name), r, 20_000}
			for _, step := range steps {
				step.do(p)
				if got := p.read("s"); got != p.tokens {
					t.Fatalf("when it %s: %d tokens, want %d; the log:\n%s", step.what, got, p.tokens, p.log())
				}
				if testing.Short() {
					continue
				}
				if first := p.read("first " + step.what); first != p.tokens && !(step.gone && first == -1) && first > 0 {
					t.Fatalf("when it %s, at first sight: %d tokens, want %d", step.what, first, p.tokens)
				}
			}
			p.sound()
		})
	}
}

// While a host writes, hooks read. What they show is never older than what they showed before, and in the end it is the last.
func TestRecordsThatGrowWhileTheyAreRead(t *testing.T) {
	for host, r := range recordings {
		t.Run(host, func(t *testing.T) {
			m := newMachine(t)
			p := &paper{m, host, filepath.Join(m.home, r.name), r, 20_000}
			p.write(p.next())
			stop, stopped := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(stopped)
				for n := 0; ; n++ {
					select {
					case <-stop:
						return
					default:
					}
					line := p.next()
					half := n * 37 % len(line) // as writes that are not made at once
					p.add(line[:half])
					p.add(line[half:])
					time.Sleep(time.Millisecond)
				}
			}()
			last := 0
			for range 10 {
				got := p.read("s")
				if got < last {
					t.Errorf("%d tokens after %d", got, last)
				}
				last = got
			}
			close(stop)
			<-stopped
			if got := p.read("s"); got != p.tokens {
				t.Errorf("%d tokens in the end, want %d; the log:\n%s", got, p.tokens, p.log())
			}
			// Between its halves a line is read for certain, and none comes after it that would hide its loss.
			line := p.next()
			p.add(line[:len(line)/2])
			if got := p.read("s"); got != p.tokens-100 {
				t.Errorf("%d tokens with half a line, want %d", got, p.tokens-100)
			}
			p.add(line[len(line)/2:])
			if got := p.read("s"); got != p.tokens {
				t.Errorf("%d tokens with the other half, want %d; the log:\n%s", got, p.tokens, p.log())
			}
		})
	}
}

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"

	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/conversation"
	"github.com/ctxls/ctxls/internal/core/text"
	"github.com/ctxls/ctxls/internal/core/token"
)

// modelFlags say how a conversation is counted.
type modelFlags struct{ model, provider, encoding string }

func (m *modelFlags) add(fs *pflag.FlagSet) {
	fs.StringVar(&m.model, "model", "", "the `model` that the conversation is for, instead of the one it names")
	fs.StringVar(&m.provider, "provider", "", "who serves the model: decides what an image costs where the model does not")
	fs.StringVar(&m.encoding, "encoding", "", "count in this `encoding`, cl100k_base or o200k_base, instead of the model's")
}

// apply puts what the flags say in the place of what the input says.
func (m *modelFlags) apply(c conversation.Conversation) conversation.Conversation {
	if m.model != "" {
		c.Model = m.model
	}
	c.Provider, c.Encoding = m.provider, m.encoding
	return c
}

// newMeter returns a meter that tells counted how many bytes of text it counted, as it goes.
func newMeter(counted func(bytes int)) *conversation.Meter {
	return conversation.NewMeter(func(encoding string) (token.Counter, error) {
		enc, err := token.Get(encoding)
		return tellingCounter{enc, pieceBytes, counted}, err
	}, token.ForModel)
}

// pieceBytes is about how much text is counted between two words about it.
const pieceBytes = 1 << 20

// tellingCounter counts long texts piece by piece. The counts of the pieces add up to that of the text.
type tellingCounter struct {
	token.Counter
	pieceBytes int
	counted    func(bytes int)
}

func (c tellingCounter) Count(text string) (tokens int) {
	for len(text) > 0 {
		n := pieceLen(text, c.pieceBytes)
		tokens += c.Counter.Count(text[:n])
		c.counted(n)
		text = text[n:]
	}
	return tokens
}

// pieceLen returns the length of a piece of at least size bytes that ends before a letter at the start of a line: in the
// patterns of both encodings, a line's end closes a word and a letter after it opens one.
func pieceLen(text string, size int) int {
	for i := size; i < len(text); i++ {
		if c := text[i] | 0x20; text[i-1] == '\n' && 'a' <= c && c <= 'z' {
			return i
		}
	}
	return len(text)
}

// untilInterrupted returns what do returns, or sooner when a person has had enough of it: reading and counting do not look
// at a context.
func untilInterrupted[T any](ctx context.Context, do func() (T, error)) (T, error) {
	type outcome struct {
		result T
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		result, err := do()
		done <- outcome{result, err}
	}()
	select {
	case o := <-done:
		return o.result, o.err
	case <-ctx.Done():
		return *new(T), errors.New("interrupted")
	}
}

// readInput returns the bytes of a file, or of standard input for "-".
func (a *app) readInput(name string) ([]byte, error) {
	if name == "-" {
		data, err := io.ReadAll(a.stdin)
		return data, inFile(name, err)
	}
	data, err := os.ReadFile(name)
	if pathErr, ok := errors.AsType[*os.PathError](err); ok {
		err = pathErr.Err // the name is said once
	}
	return data, inFile(name, err)
}

// inFile puts the name of an input in front of what is wrong with it.
func inFile(name string, err error) error {
	if err == nil {
		return nil
	}
	if name == "-" {
		name = "standard input"
	}
	return fmt.Errorf("%s: %w", text.Sanitize(name, 0), err)
}

// looksLikeJSON reports whether the input starts as a conversation does.
func looksLikeJSON(data []byte) bool {
	data = bytes.TrimLeft(bytes.TrimPrefix(data, []byte("\ufeff")), " \t\r\n")
	return len(data) > 0 && (data[0] == '[' || data[0] == '{')
}

// flagOf names the flags by the members of requests that they stand for.
var flagOf = map[string]string{
	"thresholdTokens": "--threshold", "windowTokens": "--window", "targetTokens": "--target", "keepLast": "--keep-last",
	"startOn": "--start-on", "strategy": "--strategy", "encoding": "--encoding",
}

// wrongFlags turns the refusal of a request without messages into one of the command line: nothing but flags is in it.
func wrongFlags(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*coded.Error](err); ok && flagOf[e.Field] != "" {
		return usageError{flagOf[e.Field] + ": " + e.Message}
	}
	return usageError{err.Error()}
}

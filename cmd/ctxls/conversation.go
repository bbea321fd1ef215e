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
	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/text"
	"github.com/ctxls/ctxls/internal/core/token"
	"github.com/ctxls/ctxls/internal/jsonscan"
)

// modelFlags are the flags that choose how a conversation is counted.
type modelFlags struct{ model, provider, encoding string }

func (m *modelFlags) add(fs *pflag.FlagSet) {
	fs.StringVar(&m.model, "model", "", "the `model` of the conversation, instead of the one that it names")
	fs.StringVar(&m.provider, "provider", "", "the provider of the model, for the cost of images")
	fs.StringVar(&m.encoding, "encoding", "", "the `encoding` to count in, cl100k_base or o200k_base, instead of the model's")
}

// apply replaces the input's own settings with those of the flags.
func (m *modelFlags) apply(c conversation.Conversation) conversation.Conversation {
	if m.model != "" {
		c.Model = m.model
	}
	c.Provider, c.Encoding = m.provider, m.encoding
	return c
}

// note says on standard error that the model of the flag is unknown, so that no public encoding belongs to it, or that the provider may be
// a slip.
func (m *modelFlags) note(a *app) {
	a.noteProvider(m.provider)
	if _, known := token.ForModel(m.model); m.model == "" || m.encoding != "" || known || model.Known(m.model) {
		return
	}
	a.noteModel(m.model, "is not a known model: counted in "+session.Encoding+", as an estimate")
}

// newMeter returns a meter that calls counted with the bytes of each text that it counts.
func newMeter(counted func(bytes int)) *conversation.Meter {
	return conversation.NewMeter(func(encoding string) (token.Counter, error) {
		enc, err := token.Get(encoding)
		return progressCounter{enc, pieceBytes, counted}, err
	}, token.ForModel)
}

// pieceBytes is how much text is counted between two progress updates.
const pieceBytes = 1 << 20

// progressCounter counts a long text in pieces. The counts of the pieces add up to the count of the text.
type progressCounter struct {
	token.Counter
	pieceBytes int
	counted    func(bytes int)
}

func (c progressCounter) Count(text string) (tokens int) {
	for len(text) > 0 {
		n := pieceLen(text, c.pieceBytes)
		tokens += c.Counter.Count(text[:n])
		c.counted(n)
		text = text[n:]
	}
	return tokens
}

// pieceLen returns the length of a piece of at least size bytes that ends before a letter at the start of a line. In the
// patterns of both encodings, the end of a line ends a token, and such a letter begins one.
func pieceLen(text string, size int) int {
	for i := size; i < len(text); i++ {
		if c := text[i] | 0x20; text[i-1] == '\n' && 'a' <= c && c <= 'z' {
			return i
		}
	}
	return len(text)
}

// untilInterrupted returns the result of do, or an error when ctx ends before. Reading and counting do not check a context.
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
		err = pathErr.Err // inFile adds the name
	}
	return data, inFile(name, err)
}

// readDocument finds the conversation in an input. Errors of its syntax name the line.
func readDocument(data []byte) (conversation.Document, error) {
	doc, err := conversation.ReadDocument(data)
	wrong, ok := errors.AsType[*jsonscan.SyntaxError](err)
	if !ok || wrong.Want == "" {
		return doc, err
	}
	before := data[:min(wrong.Offset, len(data))]
	at := fmt.Sprintf("line %d", 1+bytes.Count(bytes.TrimRight(before, " \t\r\n"), []byte("\n")))
	if wrong.Offset < len(bytes.TrimRight(data, " \t\r\n")) {
		at = fmt.Sprintf("line %d, column %d", 1+bytes.Count(before, []byte("\n")), wrong.Offset-bytes.LastIndexByte(before, '\n'))
		if wrong.Want == "nothing after the value" {
			return doc, fmt.Errorf("%s: a second value; want one list of messages, as 'jq -s .' makes of lines", at)
		}
		return doc, fmt.Errorf("%s: not valid JSON: expected %s", at, wrong.Want)
	}
	switch wrong.Want {
	case "a comma or ']'":
		return doc, fmt.Errorf("%s: the list is not closed; expected , or ]", at)
	case "a comma or '}'":
		return doc, fmt.Errorf("%s: the object is not closed; expected , or }", at)
	}
	return doc, fmt.Errorf("%s: the file ends too early; expected %s", at, wrong.Want)
}

// inFile adds the name of an input to an error.
func inFile(name string, err error) error {
	if err == nil {
		return nil
	}
	if name == "-" {
		name = "standard input"
	}
	return fmt.Errorf("%s: %w", text.Sanitize(name, 0), err)
}

// looksLikeJSON reports whether the input starts like a conversation in JSON.
func looksLikeJSON(data []byte) bool {
	data = bytes.TrimLeft(bytes.TrimPrefix(data, []byte("\ufeff")), " \t\r\n")
	return len(data) > 0 && (data[0] == '[' || data[0] == '{')
}

// flagOf names the flags by the members of requests that they stand for.
var flagOf = map[string]string{
	"thresholdTokens": "--threshold", "windowTokens": "--window", "targetTokens": "--target", "keepLast": "--keep-last",
	"compactionTokens": "--compacts-at", "startOn": "--start-on", "strategy": "--strategy", "encoding": "--encoding", "whatIf": "--what-if",
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

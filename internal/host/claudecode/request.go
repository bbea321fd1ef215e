package claudecode

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"time"

	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

const (
	// maxRequestTools bounds the tools of one request that are told apart; the rest is left out.
	maxRequestTools = 2000
	// requestHead is how many bytes of the beginning of a long transcript are searched for the shape that its last request refers to. In
	// version 2.1.329 it is among the first 25 lines and has 76 KB.
	requestHead = 4 << 20
	// maxTranscripts bounds the transcripts of a project that are searched for a request. Each costs up to transcript.ReachBytes.
	maxTranscripts = 4
)

// LastRequest implements core.RequestReader. Claude Code 2.1.329 writes the system prompt and the list of tools
// once, as api-request-shape, and an api-request that refers to it for each request. CLAUDE_CODE_ELEGANT_MEADOW=0 turns that off.
func (*Adapter) LastRequest(ctx context.Context, path string) (*session.RequestRecord, error) {
	return lastRequest(ctx, path)
}

// LastRequest returns what the newest transcripts of a project say of its last request. dir is the directory in which its sessions were
// started. It returns nil if they say nothing.
func (r Records) LastRequest(ctx context.Context, dir string) (*session.RequestRecord, error) {
	for _, projects := range r.Dirs() {
		files, err := transcript.Find(ctx, filepath.Join(projects, projectName(dir)), "*.jsonl", time.Time{})
		if err != nil {
			return nil, err
		}
		for _, f := range files[:min(len(files), maxTranscripts)] {
			if strings.HasPrefix(filepath.Base(f.Path), "agent-") {
				continue
			}
			if found, err := lastRequest(ctx, f.Path); found != nil || ctx.Err() != nil {
				return found, err
			}
		}
	}
	return nil, nil
}

// projectName returns the name of the directory that holds the transcripts of a project: its path with "-" for all but ASCII letters
// and digits.
func projectName(dir string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 && (r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z') {
			return r
		}
		return '-'
	}, dir)
}

func lastRequest(ctx context.Context, path string) (*session.RequestRecord, error) {
	s := requestScan{called: map[string]bool{}}
	visit := func(data []byte) (session.Entry, bool) {
		s.line(data)
		return session.Entry{}, false
	}
	err := transcript.Back(ctx, path, transcript.Format{Entry: visit}, func(session.Entry) bool { return true })
	if err != nil || s.hash == "" {
		return nil, err
	}
	if transcript.Stat(path).Size > transcript.ReachBytes {
		s.called = nil // older calls are not seen
		if s.found == nil {
			head, err := transcript.Head(path, requestHead)
			if err != nil {
				return nil, err
			}
			for line := range bytes.Lines(head) {
				s.line(bytes.TrimRight(line, "\r\n"))
			}
		}
	}
	if s.found == nil {
		return nil, nil
	}
	s.found.At, s.found.Version, s.found.Called = s.at, s.version, s.called
	return s.found, nil
}

// requestScan collects the last request from lines that come newest first.
type requestScan struct {
	hash    string // of the shape of the last request of the main conversation; "" until it was met
	at      time.Time
	version string
	found   *session.RequestRecord // its shape
	called  map[string]bool        // nil if they are not collected
}

var requestMark, toolsUsedMark, toolUseBlock = []byte(`"api-request`), []byte(`"tools-used"`), []byte(`"tool_use"`)

// line takes one line of a transcript.
func (s *requestScan) line(data []byte) {
	switch {
	case bytes.Contains(data, requestMark):
		s.request(data)
	case s.called == nil:
		return
	case bytes.Contains(data, toolsUsedMark):
		var kind, tools []byte
		transcript.Pick(data, transcript.Field{Name: "type", Value: &kind}, transcript.Field{Name: "tools", Value: &tools})
		if string(kind) == `"tools-used"` {
			transcript.Elements(tools, func(name []byte) bool {
				s.called[transcript.String(name)] = true
				return true
			})
			return
		}
	}
	if s.called != nil && bytes.Contains(data, toolUseBlock) {
		s.calls(data)
	}
}

// calls notes the calls of an answer.
func (s *requestScan) calls(data []byte) {
	var kind, message, content []byte
	transcript.Pick(data, transcript.Field{Name: "type", Value: &kind}, transcript.Field{Name: "message", Value: &message})
	if string(kind) != `"assistant"` {
		return
	}
	transcript.Pick(message, transcript.Field{Name: "content", Value: &content})
	transcript.Elements(content, func(block []byte) bool {
		var kind, name []byte
		transcript.Pick(block, transcript.Field{Name: "type", Value: &kind}, transcript.Field{Name: "name", Value: &name})
		if string(kind) == `"tool_use"` {
			s.called[transcript.String(name)] = true
		}
		return true
	})
}

// request takes a line that may be the record of a request or of its shape. The shape stands before the requests that refer to it.
func (s *requestScan) request(data []byte) {
	var kind, source, hash, at, version, shape []byte
	if !transcript.Pick(data, transcript.Field{Name: "type", Value: &kind}, transcript.Field{Name: "querySource", Value: &source},
		transcript.Field{Name: "shapeHash", Value: &hash}, transcript.Field{Name: "timestamp", Value: &at},
		transcript.Field{Name: "version", Value: &version}, transcript.Field{Name: "shape", Value: &shape}) {
		return
	}
	switch string(kind) {
	case `"api-request"`:
		if s.hash == "" && ofMain(transcript.String(source)) {
			s.hash, s.at, s.version = transcript.String(hash), transcript.Time(at), transcript.String(version)
		}
	case `"api-request-shape"`:
		if s.found == nil && s.hash != "" && transcript.String(hash) == s.hash {
			s.found = shapeOf(shape)
		}
	}
}

// ofMain reports whether a request belongs to the conversation itself. Others are of sub-agents, titles and summaries.
func ofMain(source string) bool {
	return source == "sdk" || strings.HasPrefix(source, "repl_main_thread")
}

// shapeOf decodes a shape, nil if it has neither a system prompt nor tools.
func shapeOf(data []byte) *session.RequestRecord {
	var system, tools []byte
	transcript.Pick(data, transcript.Field{Name: "system", Value: &system}, transcript.Field{Name: "tools", Value: &tools})
	r := &session.RequestRecord{}
	if text := transcript.String(system); text != "" {
		r.System = append(r.System, text)
	}
	transcript.Elements(system, func(block []byte) bool {
		var text []byte
		transcript.Pick(block, transcript.Field{Name: "text", Value: &text})
		if s := transcript.String(text); s != "" {
			r.System = append(r.System, s)
		}
		return true
	})
	transcript.Elements(tools, func(tool []byte) bool {
		var name []byte
		transcript.Pick(tool, transcript.Field{Name: "name", Value: &name})
		if name := transcript.String(name); name != "" {
			r.Tools = append(r.Tools, session.RequestTool{Name: name, JSON: string(tool)})
		}
		return len(r.Tools) < maxRequestTools
	})
	if len(r.System)+len(r.Tools) == 0 {
		return nil
	}
	return r
}

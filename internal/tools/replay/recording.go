package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"time"
)

// recording is what a host did in one session.
type recording struct {
	events []event
	lines  [][]byte // the transcript, each with its line feed
}

// event is one call of a hook or of the status line.
type event struct {
	At      time.Time       `json:"at"`              // when the host started it
	Name    string          `json:"event"`           // the hook's name, or "StatusLine"
	Lines   int             `json:"transcriptLines"` // how many lines the transcript had at that moment
	Payload json.RawMessage `json:"payload"`         // its standard input
}

// said is the part of a payload that the replay itself reads, to tell people what the host did and to know what must follow.
type said struct {
	SessionID      string `json:"session_id"`
	TranscriptPath string `json:"transcript_path"`
	CWD            string `json:"cwd"`
	Source         string `json:"source"`
	Reason         string `json:"reason"`
	Trigger        string `json:"trigger"`
	Prompt         string `json:"prompt"`
	Answer         string `json:"last_assistant_message"`
	ToolCalls      []struct {
		Name  string `json:"tool_name"`
		Input struct {
			File    string `json:"file_path"`
			Command string `json:"command"`
		} `json:"tool_input"`
	} `json:"tool_calls"`
	Version       string `json:"version"` // of the host; the status line has it
	ContextWindow struct {
		Size  int    `json:"context_window_size"`
		Usage *tuple `json:"current_usage"`
	} `json:"context_window"`
}

// tuple is the usage of one response, in tokens, as the Messages API reports it. Input excludes what the cache held.
type tuple struct {
	Input      int `json:"input_tokens"`
	CacheRead  int `json:"cache_read_input_tokens"`
	CacheWrite int `json:"cache_creation_input_tokens"`
	Output     int `json:"output_tokens"`
}

// tokens returns what the request held.
func (u tuple) tokens() int { return u.Input + u.CacheRead + u.CacheWrite }

// read returns what the payload says.
func (e event) read() said {
	var s said
	_ = json.Unmarshal(e.Payload, &s) // load saw that it is an object; a member of another type is not there
	return s
}

// load reads events.jsonl and transcript.jsonl.
func load(dir fs.FS) (recording, error) {
	var rec recording
	transcript, err := fs.ReadFile(dir, "transcript.jsonl")
	if err != nil {
		return rec, err
	}
	rec.lines = bytes.SplitAfter(bytes.TrimSuffix(transcript, []byte("\n")), []byte("\n"))
	events, err := fs.ReadFile(dir, "events.jsonl")
	if err != nil {
		return rec, err
	}
	for i, line := range bytes.Split(bytes.TrimSpace(events), []byte("\n")) {
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			return rec, fmt.Errorf("events.jsonl:%d: %w", i+1, err)
		}
		switch {
		case e.Name == "" || len(e.Payload) == 0 || e.Payload[0] != '{':
			return rec, fmt.Errorf("events.jsonl:%d: want an event with an object for its payload", i+1)
		case e.Lines < 0 || e.Lines > len(rec.lines):
			return rec, fmt.Errorf("events.jsonl:%d: transcriptLines is %d, the transcript has %d", i+1, e.Lines, len(rec.lines))
		case i > 0 && e.At.Before(rec.events[i-1].At):
			return rec, fmt.Errorf("events.jsonl:%d: earlier than the line before", i+1)
		}
		rec.events = append(rec.events, e)
	}
	first := rec.events[0].read()
	if first.SessionID == "" || !path.IsAbs(first.TranscriptPath) || !path.IsAbs(first.CWD) {
		return rec, fmt.Errorf("events.jsonl:1: want session_id and absolute paths in transcript_path and cwd")
	}
	return rec, nil
}

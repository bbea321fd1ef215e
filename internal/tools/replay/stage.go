package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

// stage is the place that a recorded session is played in: an empty home of its own, where nothing of the person who runs it is
// read or written.
type stage struct {
	bin        string // ctxls
	home       string
	recorded   string // the home of the recording
	project    string
	transcript string
	env        []string
	placed     bool // the texts of the recording keep its paths, and only the transcript is of this place
}

// newStage makes the place below dir.
func newStage(bin, dir string, rec recording) (*stage, error) {
	first := rec.events[0].read()
	s := &stage{bin: bin, home: filepath.Join(dir, "home"), recorded: path.Dir(first.CWD)}
	s.project, s.transcript = s.local(first.CWD), s.local(first.TranscriptPath)
	if s.transcript == first.TranscriptPath {
		return nil, fmt.Errorf("transcript_path: want a path below %s", s.recorded)
	}
	// %SYSTEMROOT% is what programs of Windows need to start at all. Colours are this log's own affair.
	s.env = []string{
		"HOME=" + s.home, "USERPROFILE=" + s.home, "PATH=" + os.Getenv("PATH"), "SYSTEMROOT=" + os.Getenv("SYSTEMROOT"),
		"NO_COLOR=1", "XDG_CONFIG_HOME=" + filepath.Join(s.home, ".config"), "XDG_STATE_HOME=" + filepath.Join(s.home, ".local", "state"),
	}
	for _, dir := range []string{s.project, filepath.Dir(s.transcript)} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// local returns text with the paths of the recording turned into those of the stage.
func (s *stage) local(text string) string {
	home := filepath.ToSlash(s.home)
	if s.placed {
		return strings.ReplaceAll(text, s.recorded+"/.claude/", home+"/.claude/")
	}
	return strings.NewReplacer(s.recorded+"/", home+"/", s.recorded+`"`, home+`"`).Replace(text)
}

// write appends lines to the transcript.
func (s *stage) write(lines [][]byte) error {
	f, err := os.OpenFile(s.transcript, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(s.local(string(bytes.Join(lines, nil))))
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// hook runs ctxls as the host runs it for an event and returns what it printed.
func (s *stage) hook(ctx context.Context, e event) (string, error) {
	args := []string{"hook", "claude-code"}
	if e.Name == statusLine {
		args = []string{"statusline"}
	}
	cmd := exec.CommandContext(ctx, s.bin, args...)
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.project, s.env, &stdout, &stderr
	cmd.Stdin = strings.NewReader(s.local(string(e.Payload)))
	err := cmd.Run()
	if err != nil || stderr.Len() > 0 {
		return "", fmt.Errorf("ctxls %s at %s: %v: %s", strings.Join(args, " "), e.Name, err, strings.TrimSpace(stderr.String()))
	}
	return stdout.String(), nil
}

// log returns what went wrong in hooks, which say so nowhere else.
func (s *stage) log() string {
	log, _ := os.ReadFile(filepath.Join(s.home, ".local", "state", "ctxls", "ctxls.log")) // there is none unless there was something to say
	var failures []string
	for line := range strings.Lines(string(log)) {
		if strings.Contains(line, "ERROR") {
			failures = append(failures, strings.TrimSpace(line))
		}
	}
	return strings.Join(failures, "\n")
}

// statusLine is what recordings call the status line.
const statusLine = "StatusLine"

// toAgent returns the part of what a hook printed that reaches the model: for PreCompact all of it, for others the context
// in the JSON.
func toAgent(name, printed string) (string, error) {
	switch {
	case printed == "":
		return "", nil
	case name == "PreCompact":
		return strings.TrimSuffix(printed, "\n"), nil
	}
	var output struct {
		Specific struct {
			Event   string `json:"hookEventName"`
			Context string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal([]byte(printed), &output); err != nil {
		return "", fmt.Errorf("%s printed what the host cannot read: %w", name, err)
	}
	if output.Specific.Event != name {
		return "", fmt.Errorf("%s printed an answer for %q, which the host would refuse", name, output.Specific.Event)
	}
	return output.Specific.Context, nil
}

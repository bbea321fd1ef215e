// Replay plays a recorded session of Claude Code through the real ctxls, as if the host ran now: it starts `ctxls serve` on a
// state of its own, runs `ctxls hook claude-code` and `ctxls statusline` with each recorded payload while the transcript grows
// as it did then, and prints what the agent is told and what a client of the server sees. It knows what the recording calls for
// and ends with status 1 when ctxls does something else.
//
//	go run ./internal/tools/replay [--bin PATH] [--recording DIR] [--speed N] [--no-color]
//	go run ./internal/tools/replay --film > docs/images/together.svg
package main

import (
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"time"

	"golang.org/x/term"
)

//go:embed testdata/claude-code
var recordings embed.FS

// patience is how long a replay may take in all before something must hang.
const patience = 5 * time.Minute

type options struct {
	bin       string  // "" builds one
	recording string  // a directory, "" for the one that is built in
	speed     float64 // times as fast as recorded, 0 as fast as possible
	width     int     // of the screen, in characters
	colour    bool
	placed    bool // estimates do not depend on where it is played
}

func main() {
	o := options{width: 100}
	flag.StringVar(&o.bin, "bin", "", "the ctxls to play through; built when not given")
	flag.StringVar(&o.recording, "recording", "", "a directory with events.jsonl and transcript.jsonl (default: the session that is built in)")
	flag.Float64Var(&o.speed, "speed", 4, "how many times as fast as recorded; 0 does not wait at all")
	noColour := flag.Bool("no-color", false, "no colours, as with NO_COLOR set or when the output is no terminal")
	picture := flag.Bool("film", false, "print an animated SVG of the session instead, played as fast as possible")
	flag.Parse()
	if flag.NArg() > 0 || o.speed < 0 {
		flag.Usage()
		os.Exit(2)
	}
	if fd := int(os.Stdout.Fd()); term.IsTerminal(fd) {
		o.colour = !*noColour && os.Getenv("NO_COLOR") == ""
		if width, _, err := term.GetSize(fd); err == nil {
			o.width = min(max(width, 60), 120)
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	if *picture {
		err = project(ctx, o, os.Stdout)
	} else {
		_, err = run(ctx, o, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "replay:", err)
		os.Exit(1)
	}
}

// run plays a recording and returns what happened at each hook.
func run(ctx context.Context, o options, w io.Writer) (moments []moment, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	dir, err := os.MkdirTemp("", "ctxls-replay-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	rec, err := open(o.recording)
	if err != nil {
		return nil, fmt.Errorf("recording: %w", err)
	}
	bin, err := program(ctx, o.bin, dir)
	if err != nil {
		return nil, err
	}
	stage, err := newStage(bin, dir, rec)
	if err != nil {
		return nil, fmt.Errorf("recording: %w", err)
	}
	client, server, err := connect(ctx, bin, stage.project, stage.env)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, client.close()) }()

	stage.placed = o.placed
	p := &player{rec: rec, stage: stage, client: client, speed: o.speed, screen: &screen{w: w, width: o.width, colour: o.colour}}
	p.introduce(server)
	err = p.play(ctx)
	return p.moments, err
}

// project plays a recording and writes it as an animated picture.
func project(ctx context.Context, o options, w io.Writer) error {
	o.speed, o.placed = 0, true
	moments, err := run(ctx, o, io.Discard)
	if err != nil {
		return err
	}
	frames := film(moments)
	_, err = w.Write(draw(frames, stands(frames)))
	return err
}

// open loads the recording in a directory, "" for the built-in one.
func open(dir string) (recording, error) {
	if dir != "" {
		return load(os.DirFS(dir))
	}
	builtIn, err := fs.Sub(recordings, "testdata/claude-code")
	if err != nil {
		return recording{}, err
	}
	return load(builtIn)
}

// program returns the absolute path of ctxls, which is built into dir when bin is "".
func program(ctx context.Context, bin, dir string) (string, error) {
	if bin != "" {
		return filepath.Abs(bin)
	}
	bin = filepath.Join(dir, "ctxls.exe") // Windows wants the suffix, others do not mind
	build := exec.CommandContext(ctx, "go", "build", "-o", bin, "github.com/ctxls/ctxls/cmd/ctxls")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return "", fmt.Errorf("building ctxls: %w", err)
	}
	return bin, nil
}

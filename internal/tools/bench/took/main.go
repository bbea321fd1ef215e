// Took runs a program, from fork to exit, and writes what that took to a file: its nanoseconds and the most bytes that it had resident.
//
//	took FILE LIMIT PROGRAM [ARG…]
//
// A process has at least the memory of the one that it was forked from, for Linux, until it is another program. So what starts the
// measured ones is as small as this. A program that does not end within LIMIT, as in 60s, is killed; then the status is 124.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/exec"
	"time"
)

func main() {
	limit, err := time.ParseDuration(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := context.WithTimeout(context.Background(), limit)
	defer stop()
	cmd := exec.CommandContext(ctx, os.Args[3], os.Args[4:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	start := time.Now()
	err = cmd.Run()
	took := time.Since(start)
	if cmd.ProcessState == nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(os.Args[1], fmt.Appendln(nil, took.Nanoseconds(), peakBytes(cmd.ProcessState)), 0o600); err != nil {
		log.Fatal(err)
	}
	switch {
	case ctx.Err() != nil:
		os.Exit(124)
	case err != nil:
		os.Exit(max(1, cmd.ProcessState.ExitCode()))
	}
}

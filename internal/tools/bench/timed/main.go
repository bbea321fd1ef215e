// Timed runs a program and writes its time from fork to exit, in nanoseconds, and its peak resident memory, in bytes, to a file.
//
//	timed FILE LIMIT PROGRAM [ARG…]
//
// On Linux, a process counts the memory of the process that forked it until it executes another program. So this program, which starts the
// measured ones, is small. It kills a program that does not end within LIMIT, such as 60s, and exits with 124.
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

package main

import (
	"bytes"
	"strings"
	"testing"
)

// What is completed, and what is said about a slip.
func TestCompletionAndSlips(t *testing.T) {
	for _, test := range []struct {
		args   string
		status int
		says   string
	}{
		{"completion words -- pu", exitOK, "words\npush\tsend what"},
		{"completion words -- push --t", exitOK, "--team\tname of the team"},
		{"completion words -- push --projects ", exitOK, "words\nname\t\nhash\t\nnone\t"},
		{"completion words -- push --state ", exitOK, "files\n"},
		{"completion words -- completion z", exitOK, "words\nzsh\t"},
		{"completion bash", exitOK, "complete -F _ctxls_fleet ctxls-fleet"},
		{"completion zsh", exitOK, "#compdef ctxls-fleet"},
		{"completion fish", exitOK, "complete -c ctxls-fleet -f -a '(__ctxls_fleet)'"},
		{"completion tcsh", exitUsage, "completion takes one shell"},
		{"psuh", exitUsage, "did you mean 'ctxls-fleet push'?"},
		{"help sesions", exitUsage, "did you mean 'ctxls-fleet sessions'?"},
		{"push --wach", exitUsage, "did you mean --watch?"},
	} {
		var out bytes.Buffer
		status := run(t.Context(), strings.Split(test.args, " "), newApp(strings.NewReader(""), &out, &out))
		if status != test.status || !strings.Contains(out.String(), test.says) {
			t.Errorf("ctxls-fleet %s: %d, want %d and %q:\n%s", test.args, status, test.status, test.says, out.String())
		}
	}
}

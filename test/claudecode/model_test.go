//go:build linux && e2e

package claudecode

import (
	"regexp"
	"strings"

	"github.com/ctxls/ctxls/test/e2e"
)

// summary is the model's answer to the request for a summary. It names one file.
const summary = "<analysis>all of it</analysis>\n<summary>\nThe user asked for some reading; notes.txt was read.\n</summary>"

// choose returns the reply to a request, and what kind of request it is: "summary" of a compaction, "other" of anything that is not the
// conversation, else the script that answers.
func choose(scripts map[string][]e2e.Reply, body map[string]any) (string, e2e.Reply) {
	messages, _ := body["messages"].([]any)
	if len(messages) > 0 {
		if last := strings.Join(e2e.TextsOf(messages[len(messages)-1]), "\n"); strings.Contains(last, "Your task is to create a detailed summary") {
			return "summary", e2e.Reply{Text: summary, Tokens: 100}
		}
	}
	if tools, _ := body["tools"].([]any); len(tools) == 0 {
		return "other", e2e.Reply{Text: "A title", Tokens: 100}
	}
	if name, reply, ok := e2e.Script(scripts, messages, "assistant", e2e.TextsOf); ok {
		return name, reply
	}
	return "other", e2e.Reply{Text: "Going on.", Tokens: 20_000}
}

// framed is Claude Code's form of a hook's text. bare is its form for newer models: a message with the role "system", of
// which the first comes before Claude Code's own text.
var framed = regexp.MustCompile(`(?s)<system-reminder>\n(\w+)(?::\w+)? hook additional context: (.*?)\n</system-reminder>\n*`)
var bare = regexp.MustCompile(`(?s)^(\w+)(?::\w+)? hook additional context: (.*?)(\n\n# Environment\n.*)?$`)

// shown is Claude Code's output for a typed command. It is part of the conversation.
var shown = regexp.MustCompile(`(?s)<local-command-stdout>.*?</local-command-stdout>`)

// said lists the texts of hooks in the conversation of a request, as "Event: text". These tests run no hooks except
// ours.
func said(r e2e.Request) (said []string) {
	for _, text := range e2e.TextsOfRequest(r) {
		for _, m := range framed.FindAllStringSubmatch(text, -1) {
			said = append(said, m[1]+": "+m[2])
		}
		if m := bare.FindStringSubmatch(text); m != nil {
			said = append(said, m[1]+": "+m[2])
		}
	}
	return said
}

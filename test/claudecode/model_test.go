//go:build linux && e2e

package claudecode

import (
	"regexp"
	"strings"

	"github.com/ctxls/ctxls/test/e2e"
)

// summary is what the model answers when it is asked for the summary of a compaction. It names one file.
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

// framed is how Claude Code passes on what a hook says, bare how it does for newer models: in a message with the role "system", the
// first of them before what it says itself.
var framed = regexp.MustCompile(`(?s)<system-reminder>\n(\w+)(?::\w+)? hook additional context: (.*?)\n</system-reminder>\n*`)
var bare = regexp.MustCompile(`(?s)^(\w+)(?::\w+)? hook additional context: (.*?)(\n\n# Environment\n.*)?$`)

// shown is what Claude Code prints for people when they type a command; it is part of the conversation.
var shown = regexp.MustCompile(`(?s)<local-command-stdout>.*?</local-command-stdout>`)

// said lists what hooks said in the conversation that a request carries, as "Event: text". In these tests no hook but ours
// speaks.
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

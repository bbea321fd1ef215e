package session

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/ctxls/ctxls/internal/core/text"
)

// A text for a model is a short statement of fact. Models and users take texts in the form of a system command for prompt injection.

// trackingMark returns the mark of a prompt.
func trackingMark(tokens, limit int) string {
	return fmt.Sprintf("[context used: %d%%]", text.Percent(tokens, limit))
}

// markOutdated corrects the mark of a prompt that was marked before a compaction and is sent after it.
const markOutdated = "ctxls: the [context used] mark of this prompt is from before the compaction. The window holds much less now; the next mark shows how much."

// guidance returns the explanation of the marks for the session start. levels are the three percentages of Config.Levels. ownCount, if
// any, says what the host's own number of tokens left is.
func guidance(levels []int, ownCount string) string {
	explained := fmt.Sprintf("ctxls measures how full this session's context window is and reports it with each prompt, as in "+
		"[context used: %[1]d%%]. Below %[1]d%% there is room for tasks of any size. From %[1]d%% to %[2]d%%, it helps to tell the "+
		"user before a large task starts. Above %[2]d%%, it helps to suggest compacting or clearing before a large task; above %[3]d%%, "+
		"to recommend it strongly. The marks are information only; work continues at full quality at any level.",
		levels[0], levels[1], levels[2])
	return strings.TrimSuffix(explained+" "+ownCount, " ")
}

// defaultReminder is the built-in text of the reminder.
const defaultReminder = "ctxls: about {{remainingPercent}}% of this session's context window is still free. There is room to go on " +
	"with the work at full quality, without hurrying or cutting it short."

// reminder returns the reminder: its message with the variables replaced, and a line of figures.
func reminder(message string, used, displayLimit, actualLimit int, model string) string {
	if message == "" {
		message = defaultReminder
	}
	tenths := func(n int) string { return fmt.Sprintf("%d.%d", n/10, n%10) }
	usedTenths := min((used*2000+displayLimit)/(2*displayLimit), 1000)
	shown := min(used, displayLimit)
	filled := (usedTenths + 25) / 50
	message = strings.NewReplacer(
		"{{usedTokens}}", text.Thousands(shown),
		"{{usedPercent}}", tenths(usedTenths),
		"{{remainingPercent}}", tenths(1000-usedTenths),
		"{{limitTokens}}", text.Thousands(displayLimit),
		"{{actualPercent}}", fmt.Sprint(text.Percent(used, actualLimit)),
		"{{bar}}", strings.Repeat("█", filled)+strings.Repeat("░", 20-filled),
		"{{model}}", text.Sanitize(model, 100),
	).Replace(message)
	return fmt.Sprintf("%s\n[Context Status: %s%% used (%s/%s tokens), %s%% remaining]",
		message, tenths(usedTenths), text.Thousands(shown), text.Thousands(displayLimit), tenths(1000-usedTenths))
}

// handoffNote returns the text that the handoff threshold is reached.
func handoffNote(tokens, window, mark int) string {
	return fmt.Sprintf("ctxls: this session's context window has reached %d%% (%s/%s tokens); the mark set for handing the work "+
		"to a fresh session is %d%%. A short note of the state of the work would let another session go on from here.",
		text.Percent(tokens, window), text.Thousands(min(tokens, window)), text.Thousands(window), mark)
}

// lostNote lists the files that the summary of a compaction does not mention.
func lostNote(lost []string) string {
	w := WorkingContext{Paths: lost}
	return strings.Join(w.lines("Files in use before the compaction that its summary does not name:"), "\n")
}

// carriedNote quotes the user and lists commands; "" if there are neither.
func carriedNote(c Carried) string {
	var lines []string
	if len(c.Words) > 0 {
		lines = append(lines, "Earlier in this session the user wrote:")
		for _, q := range c.Words {
			lines = append(lines, q.Line())
		}
	}
	if len(c.Commands) > 0 {
		lines = append(lines, "Commands that were run before the compaction (how often, when last):")
		for _, ran := range c.Commands {
			lines = append(lines, ran.Line())
		}
	}
	if c.Recallable {
		lines = append(lines, "The tool recall of ctxls searches what was said before the compaction.")
	}
	if len(lines) == 0 {
		return ""
	}
	return "ctxls: from before the compaction\n" + strings.Join(lines, "\n")
}

// clampText cuts a text to the length that a host takes.
func clampText(s string) string {
	if utf8.RuneCountInString(s) <= MaxInjectedChars {
		return s
	}
	return string([]rune(s)[:MaxInjectedChars-1]) + "…"
}

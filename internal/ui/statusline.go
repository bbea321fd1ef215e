package ui

import (
	"fmt"
	"strings"

	"github.com/ctxls/ctxls/internal/core"
)

// defaultStatusline is the line where nothing else is configured.
const defaultStatusline = "{bar} {percent} · {tokens}/{window} · {left} · {model}"

// Statusline writes one line about a session. In format, {bar}, {percent}, {tokens}, {window}, {left}, {forecast}, {model}
// and {level} are replaced; "" stands for the built-in format.
func Statusline(s core.SessionView, format string) string {
	if format == "" {
		format = defaultStatusline
	}
	u := s.Usage
	forecast, level := unknown, unknown
	if f := u.TurnsLeft; f != nil {
		forecast = fmt.Sprintf("%d turns", f.Mid)
	}
	if u.Level != nil {
		level = string(*u.Level)
	}
	line := strings.NewReplacer(
		"{bar}", bar(u.Display.Percent, 10),
		"{percent}", percentText(u),
		"{tokens}", estimateMark(u)+tokensOrUnknown(u.Display.Tokens),
		"{window}", tokens(u.Display.LimitTokens),
		"{left}", leftText(u),
		"{forecast}", forecast,
		"{model}", safe(s.Model, 40),
		"{level}", level,
	).Replace(format)
	return safe(line, 500)
}

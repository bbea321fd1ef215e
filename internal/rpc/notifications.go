package rpc

import (
	"reflect"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/fleet"
	"github.com/ctxls/ctxls/internal/core/session"
)

// notifications are what the server tells a client that completed the handshake, with their params.
var notifications = map[string]reflect.Type{
	"$/progress":                reflect.TypeFor[ProgressParams](),
	"metrics/thresholdExceeded": reflect.TypeFor[fleet.Alert](),
	"session/changed":           reflect.TypeFor[SessionChangedParams](),
	"session/removed":           reflect.TypeFor[SessionRemovedParams](),
	"window/logMessage":         reflect.TypeFor[LogMessageParams](),
}

// SessionChangedParams are a session as it is now.
type SessionChangedParams struct {
	Session core.SessionView `json:"session"`
}

// SessionRemovedParams name a session that is forgotten.
type SessionRemovedParams struct {
	Host      session.Host `json:"host"`
	SessionID string       `json:"sessionId"`
}

// logWarning is LSP's MessageType for a warning.
const logWarning = 2

// LogMessageParams are those of LSP's window/logMessage.
type LogMessageParams struct {
	Type    int    `json:"type"` // 1 error, 2 warning, 3 info, 4 log
	Message string `json:"message"`
}

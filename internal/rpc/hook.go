package rpc

import (
	"context"
	"encoding/json"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
)

// HookParams is one payload of a host.
type HookParams struct {
	Host    session.Host    `json:"host"`
	Event   string          `json:"event,omitzero"` // the host's name of the event, if the payload does not contain it
	Payload json.RawMessage `json:"payload"`        // as the host wrote it: the standard input of a command hook, or the arguments of a plugin's function

	decoded session.Event
	wrong   error // why there is no decoded
}

func (p *HookParams) check() error {
	if p.Host == "" {
		return invalid("host", "required, expected the name of a host, such as claude-code")
	}
	if len(p.Payload) == 0 || string(p.Payload) == "null" {
		return invalid("payload", "required, expected what the host gave")
	}
	return nil
}

func (p *HookParams) host() session.Host { return p.Host }

// resolveSession decodes the payload, since only the adapter of the host knows where the session ID is in it. hookHandle uses the result.
func (p *HookParams) resolveSession(s *Server) string {
	p.decoded, p.wrong = s.service.Decode(p.Host, p.Event, p.Payload)
	return p.decoded.SessionID
}

// HookResult is the result of handling a payload.
type HookResult struct {
	SessionID string           `json:"sessionId"`
	Usage     *core.Usage      `json:"usage"`   // of the session now; null if the payload said that it was deleted
	Effects   []session.Effect `json:"effects"` // what is to be done
	Output    string           `json:"output"`  // the same in the host's own form, to be passed on verbatim
}

func (s *Server) hookHandle(ctx context.Context, p *HookParams) (*HookResult, error) {
	if p.wrong != nil {
		return nil, inParams(p.wrong, "payload")
	}
	out, output, err := s.service.Answer(ctx, p.decoded)
	if err != nil {
		return nil, err
	}
	result := &HookResult{SessionID: out.Key.SessionID, Effects: out.Effects, Output: string(output)}
	if out.Session.SessionID != "" {
		result.Usage = &out.Session.Usage
	}
	return result, nil
}

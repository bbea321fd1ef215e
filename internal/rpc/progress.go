package rpc

import (
	"sync"
	"time"
)

// progressAfter is how long work goes on before its client is told of it.
const progressAfter = time.Second

// WorkDone is the part of params by which a client asks to be told of work that takes long, as in LSP.
type WorkDone struct {
	WorkDoneToken string `json:"workDoneToken,omitzero"` // comes back as the token of $/progress
}

// ProgressParams are those of LSP's $/progress.
type ProgressParams struct {
	Token string           `json:"token"`
	Value WorkDoneProgress `json:"value"`
}

// WorkDoneProgress is what there is to tell of work that takes long.
type WorkDoneProgress struct {
	Kind  string `json:"kind"`           // "begin", once a second has passed, and "end" before the reply
	Title string `json:"title,omitzero"` // with begin: what is being done
}

// longWork tells the client that asked for it when work takes long. done must be called when it is over.
func (s *Server) longWork(asked WorkDone, title string) (done func()) {
	if asked.WorkDoneToken == "" {
		return func() {}
	}
	tell := func(p WorkDoneProgress) {
		_ = s.Notify("$/progress", ProgressParams{asked.WorkDoneToken, p}) // a client that does not read misses nothing
	}
	var mu sync.Mutex
	begun, over := false, false
	timer := time.AfterFunc(s.progressAfter, func() {
		mu.Lock()
		defer mu.Unlock()
		if !over {
			begun = true
			tell(WorkDoneProgress{Kind: "begin", Title: title})
		}
	})
	return func() {
		timer.Stop()
		mu.Lock()
		defer mu.Unlock()
		over = true
		if begun {
			tell(WorkDoneProgress{Kind: "end"})
		}
	}
}

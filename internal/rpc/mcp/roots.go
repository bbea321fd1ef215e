package mcp

//lint:file-ignore SA1019 Roots are on their way out of the protocol, but the hosts in use offer them and nothing else.

import (
	"context"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ctxls/ctxls/internal/core/pathname"
)

const (
	// rootsPatience is the time that a client may take to list its open folders.
	rootsPatience = time.Second
	// rootsInResult is the first version of the protocol in which a server asks the client in its answer to a call, which the client
	// then repeats. Other ways of asking are not allowed there.
	rootsInResult = "2026-07-28"
	rootsKey      = "roots" // of that question
)

// needsRoots says that the client must list its folders first.
type needsRoots struct{}

func (needsRoots) Error() string { return "the client has yet to say which folders it has open" }

func (needsRoots) requests() sdk.InputRequestMap {
	return sdk.InputRequestMap{rootsKey: &sdk.ListRootsParams{}}
}

// folders returns the folders of the client's workspace: its open folders if the client lists them, else the working directory.
// needsRoots is no failure: the answer has to ask.
func (s *Server) folders(ctx context.Context, r *sdk.CallToolRequest) ([]string, error) {
	client := r.Session.InitializeParams()
	if client == nil || client.Capabilities == nil || client.Capabilities.RootsV2 == nil {
		return s.options.Folders, nil
	}
	var listed *sdk.ListRootsResult
	if client.ProtocolVersion >= rootsInResult {
		answer, asked := r.Params.InputResponses[rootsKey]
		if !asked {
			return nil, needsRoots{}
		}
		listed, _ = answer.(*sdk.ListRootsResult)
	} else {
		ctx, stop := context.WithTimeout(ctx, rootsPatience)
		defer stop()
		var err error
		if listed, err = r.Session.ListRoots(ctx, nil); err != nil {
			s.log.Info("the client does not say which folders it has open", "error", err)
		}
	}
	var folders []string
	if listed != nil {
		for _, root := range listed.Roots {
			if root == nil {
				continue
			}
			path, err := pathname.OfURI(root.URI)
			if err != nil {
				s.log.Info("a folder of the client was passed over", "error", err)
				continue
			}
			folders = append(folders, path)
		}
	}
	if folders == nil {
		return s.options.Folders, nil
	}
	return folders, nil
}

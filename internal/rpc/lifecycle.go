package rpc

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/pathname"
	"github.com/ctxls/ctxls/internal/rpc/transport"
)

// protocolVersion rises when a method or notification changes in a way that breaks clients.
const protocolVersion = 1

// client is the state of the connected client.
type client struct {
	mu          sync.Mutex
	greeted     bool          // it sent initialize
	ready       bool          // and initialized
	readied     chan struct{} // closed when it becomes ready
	shutDown    bool
	exited      bool
	allSessions bool     // it wants notifications about every session, not only those of its folders
	noSessions  bool     // it wants to hear of none
	folders     []string // paths of its workspace folders
	wrong       error    // the error in the configuration from initialize, until the client can be told
}

func (c *client) isReady() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ready && !c.shutDown
}

func (c *client) isShutDown() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.shutDown
}

func (c *client) exitedEarly() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.exited && !c.shutDown
}

func (c *client) wantsNoSessions() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.noSessions
}

// workspace returns the paths of the client's folders.
func (c *client) workspace() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.folders)
}

// scope returns the folders whose sessions the client wants; none is everywhere.
func (c *client) scope() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.allSessions {
		return nil
	}
	return slices.Clone(c.folders)
}

// folder returns the first of the client's folders, whose settings are the default; "" without any.
func (c *client) folder() string {
	if folders := c.workspace(); len(folders) > 0 {
		return folders[0]
	}
	return ""
}

// InitializeParams are the parts of LSP's initialize that ctxls reads.
type InitializeParams struct {
	ProcessID             *int                  `json:"processId,omitzero"` // the server ends with this process; null is none
	ClientInfo            ClientInfo            `json:"clientInfo,omitzero"`
	RootURI               string                `json:"rootUri,omitzero"` // ignored if workspaceFolders is set
	WorkspaceFolders      []WorkspaceFolder     `json:"workspaceFolders,omitzero"`
	InitializationOptions InitializationOptions `json:"initializationOptions,omitzero"`
	Capabilities          ClientCapabilities    `json:"capabilities,omitzero"`
}

// ClientInfo names a client, for the log.
type ClientInfo struct {
	Name    string `json:"name,omitzero"`
	Version string `json:"version,omitzero"`
}

// WorkspaceFolder is a folder that the client has open.
type WorkspaceFolder struct {
	URI  string `json:"uri"`
	Name string `json:"name,omitzero"`
}

// InitializationOptions are the parts of initialize for ctxls alone.
type InitializationOptions struct {
	Config   json.RawMessage `json:"config,omitzero"`   // configuration of the workspace, as in its file
	Sessions string          `json:"sessions,omitzero"` // which sessions to be told of: "workspace", the default, "all", or "none"
}

func (p *InitializeParams) check() error {
	if p.ProcessID != nil && *p.ProcessID <= 0 {
		return invalid("processId", "expected a positive integer or null, got %d", *p.ProcessID)
	}
	switch p.InitializationOptions.Sessions {
	case "", "workspace", "all", "none":
		return nil
	}
	return invalid("initializationOptions.sessions", `expected "workspace", "all" or "none", got %q`, p.InitializationOptions.Sessions)
}

// InitializeResult lists what the server offers.
type InitializeResult struct {
	Capabilities Capabilities `json:"capabilities"`
	ServerInfo   ServerInfo   `json:"serverInfo"`
}

// Capabilities has ctxls's own capabilities under "experimental", where LSP puts extensions. Of LSP's it says that ctxls wants
// notifications about workspace folders, since clients send them only to such servers.
type Capabilities struct {
	LanguageCapabilities
	Workspace struct {
		WorkspaceFolders FolderCapability `json:"workspaceFolders"`
	} `json:"workspace"`
	Experimental struct {
		Ctxls Protocol `json:"ctxls"`
	} `json:"experimental"`
}

// FolderCapability is LSP's WorkspaceFoldersServerCapabilities.
type FolderCapability struct {
	Supported           bool `json:"supported"`
	ChangeNotifications bool `json:"changeNotifications"`
}

// Protocol lists the names of ctxls's methods and notifications, each sorted.
type Protocol struct {
	ProtocolVersion int      `json:"protocolVersion"`
	Methods         []string `json:"methods"`
	Notifications   []string `json:"notifications"`
	Prune           bool     `json:"prune,omitzero"` // the user has turned prune.enabled on
}

// ServerInfo names the server.
type ServerInfo struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

func (s *Server) initialize(_ context.Context, p *InitializeParams) (*InitializeResult, error) {
	folders := p.WorkspaceFolders
	if len(folders) == 0 && p.RootURI != "" {
		folders = []WorkspaceFolder{{URI: p.RootURI}}
	}
	paths := s.paths(folders)

	s.client.mu.Lock()
	again := s.client.greeted
	if !again {
		s.client.greeted = true
		s.client.allSessions = p.InitializationOptions.Sessions == "all"
		s.client.noSessions = p.InitializationOptions.Sessions == "none"
		s.client.folders = paths
	}
	s.client.mu.Unlock()
	if again {
		return nil, coded.Errorf(transport.CodeInvalidRequest, "initialize may be sent only once")
	}

	s.log.Info("client connected", "client", p.ClientInfo.Name, "version", p.ClientInfo.Version, "folders", paths)
	if err := s.configure(p.InitializationOptions.Config); err != nil {
		s.client.mu.Lock()
		s.client.wrong = err
		s.client.mu.Unlock()
	}
	if p.ProcessID != nil {
		s.watchClient(*p.ProcessID)
	}

	result := &InitializeResult{ServerInfo: ServerInfo{Name: "ctxls", Version: s.options.Version}}
	result.Capabilities.LanguageCapabilities = s.offer(p.Capabilities)
	result.Capabilities.Workspace.WorkspaceFolders = FolderCapability{Supported: true, ChangeNotifications: true}
	result.Capabilities.Experimental.Ctxls = Protocol{
		ProtocolVersion: protocolVersion,
		Methods:         names(s.methods),
		Notifications:   slices.Sorted(maps.Keys(notifications)),
		Prune:           s.service != nil && s.service.Config("").Prune.Enabled,
	}
	return result, nil
}

// initializedByClient is LSP's "initialized": notifications are sent from here on.
func (s *Server) initializedByClient(context.Context, *noParams) (any, error) {
	s.client.mu.Lock()
	first := s.client.greeted && !s.client.ready
	s.client.ready = s.client.greeted
	wrong := s.client.wrong
	s.client.wrong = nil
	s.client.mu.Unlock()
	if wrong != nil {
		s.warn(wrong)
	}
	if first {
		close(s.client.readied)
	}
	return nil, nil
}

func (s *Server) shutdown(context.Context, *noParams) (any, error) {
	s.client.mu.Lock()
	defer s.client.mu.Unlock()
	s.client.shutDown = true
	return nil, nil
}

// exit ends the connection like the end of the input: earlier requests are answered first.
func (s *Server) exit(context.Context, *noParams) (any, error) {
	s.client.mu.Lock()
	s.client.exited = true
	s.client.mu.Unlock()
	s.stream.StopReading()
	return nil, nil
}

// CancelParams name the call to cancel.
type CancelParams struct {
	ID jsontext.Value `json:"id"`
}

func (s *Server) cancelRequest(_ context.Context, p *CancelParams) (any, error) {
	id := transport.ReadID(p.ID)
	if !id.IsValid() {
		return nil, invalid("id", "expected the id of a request, got %s", transport.Shown(p.ID))
	}
	s.inFlight.cancel(id)
	return nil, nil
}

// SetTraceParams say how much the client wants to know of the server's work.
type SetTraceParams struct {
	Value string `json:"value"`
}

func (p *SetTraceParams) check() error {
	if !slices.Contains([]string{"off", "messages", "verbose"}, p.Value) {
		return invalid("value", `expected "off", "messages" or "verbose", got %q`, p.Value)
	}
	return nil
}

// setTrace accepts the method and changes nothing: the log has everything that could be traced.
func (s *Server) setTrace(context.Context, *SetTraceParams) (any, error) {
	return nil, nil
}

// DidChangeConfigurationParams hold the configuration of the workspace, by itself or under "ctxls" as VS Code sends it.
type DidChangeConfigurationParams struct {
	Settings json.RawMessage `json:"settings"`
}

func (s *Server) didChangeConfiguration(_ context.Context, p *DidChangeConfigurationParams) (any, error) {
	config := p.Settings
	var sections struct {
		Ctxls json.RawMessage `json:"ctxls"`
	}
	if json.Unmarshal(config, &sections) == nil && sections.Ctxls != nil {
		config = sections.Ctxls
	}
	if err := s.configure(config); err != nil {
		s.warn(err)
	}
	return nil, nil
}

// DidChangeWorkspaceFoldersParams list the folders that were added and removed.
type DidChangeWorkspaceFoldersParams struct {
	Event struct {
		Added   []WorkspaceFolder `json:"added,omitzero"`
		Removed []WorkspaceFolder `json:"removed,omitzero"`
	} `json:"event"`
}

func (s *Server) didChangeWorkspaceFolders(_ context.Context, p *DidChangeWorkspaceFoldersParams) (any, error) {
	defer s.lookAnew()
	added, removed := s.paths(p.Event.Added), s.paths(p.Event.Removed)
	s.client.mu.Lock()
	defer s.client.mu.Unlock()
	s.client.folders = slices.DeleteFunc(s.client.folders, func(path string) bool { return slices.Contains(removed, path) })
	for _, path := range added {
		if !slices.Contains(s.client.folders, path) {
			s.client.folders = append(s.client.folders, path)
		}
	}
	return nil, nil
}

// configure passes the configuration on. An error in it is not fatal: an editor must not lose its gauge over a misspelled key.
func (s *Server) configure(config json.RawMessage) error {
	if s.options.Configure == nil || len(config) == 0 || string(config) == "null" {
		return nil
	}
	defer s.lookAnew()
	err := s.options.Configure(config)
	if err != nil {
		s.log.Warn("the client's configuration has a fault", "error", err)
	}
	return err
}

// warn shows the client the error in its configuration.
func (s *Server) warn(err error) {
	_ = s.Notify("window/logMessage", LogMessageParams{Type: logWarning, Message: "ctxls: configuration: " + transport.WireError(err).Message})
}

// paths returns the paths of folders that are on this machine's file system.
func (s *Server) paths(folders []WorkspaceFolder) []string {
	var paths []string
	for _, folder := range folders {
		path, err := pathname.OfURI(folder.URI)
		if err != nil {
			s.log.Warn("a workspace folder was passed over", "error", err)
			continue
		}
		paths = append(paths, path)
	}
	return paths
}

-- The API of the plugin; see :help ctxls-functions. Everything about sessions comes from the server.
if vim.fn.has('nvim-0.10') == 0 then
  return require('ctxls.old')
end

local M = {}

---@param key string "host/id"
local function as_ref(key)
  local host, id = key:match('^([^/]+)/(.+)$')
  return { host = host or '', sessionId = id or key }
end

---Sets options. An option that is not given has its default; an unknown or wrong one is an error. Calling it is optional, and
---it may be called again.
---@param options? ctxls.Options
function M.setup(options)
  require('ctxls.config').set(options)
  require('ctxls.status').setup()
  require('ctxls.server').reconfigure()
end

---Starts the server where none was started yet. It answers later.
function M.start()
  require('ctxls.status')
  require('ctxls.server').start()
end

---The gauge as plain text, for example "! 72% · ~23k to compaction"; "" where there is nothing to show. It
---returns a string that was made before: call it as often as a statusline is drawn. The first call starts the server.
---@return string
function M.status()
  return require('ctxls.status').plain()
end

---The gauge with its colours, for `%{%v:lua.require'ctxls'.statusline()%}`: nothing in it but its colours is special.
---@return string
function M.statusline()
  return require('ctxls.status').coloured()
end

---How full the window of the session is that status() shows: the level's highlight group, "" without a session.
---@return ''|'CtxlsNormal'|'CtxlsNotice'|'CtxlsWarning'|'CtxlsCritical'|'CtxlsUnknown'|'CtxlsFailed'
function M.highlight()
  return require('ctxls.status').group()
end

---The sessions of this workspace that have not ended, the most recently updated first. Do not change them.
---@return ctxls.Session[]
function M.sessions()
  return require('ctxls.sessions').list()
end

---The session that status() shows: the pinned one, else the most recently updated one that is active.
---@return ctxls.Session?
function M.shown()
  return require('ctxls.sessions').shown()
end

---Pins a session by its key, "host/id"; nil goes back to the most recent one.
---@param key? string
function M.pin(key)
  require('ctxls.sessions').pin(key)
end

---The session of a key, nil where there is none.
---@param key string "host/id"
---@return ctxls.Session?
function M.session(key)
  return require('ctxls.sessions').get(key)
end

---Calls a function after sessions changed, or after another one is shown, until it returns true. The `User` event
---"CtxlsChanged" tells the same.
---@param watch fun(changes: ctxls.Change[]): boolean?
function M.watch(watch)
  require('ctxls.status')
  require('ctxls.sessions').watch(watch)
end

---Asks for what fills a session's window. The server reads its transcript, which may take seconds.
---@param key string "host/id"
---@param done fun(why: string?, breakdown: ctxls.Breakdown?) called later
function M.breakdown(key, done)
  require('ctxls.sessions').breakdown(as_ref(key), done)
end

---Asks for the points of a session's history, oldest first.
---@param key string "host/id"
---@param done fun(why: string?, samples: ctxls.Sample[]?) called later
function M.history(key, done)
  require('ctxls.sessions').history(as_ref(key), done)
end

---The state of the server: `kind` is 'stopped', 'starting', 'running', 'reviving' or 'failed', and then `why`.
---@return ctxls.State
function M.server()
  return vim.deepcopy(require('ctxls.server').state())
end

---Starts the server, in place of the one that runs.
function M.restart()
  require('ctxls.server').restart()
end

return M

-- What others may use of the plugin; see :help ctxls. All that is known of sessions comes from the server.
if vim.fn.has('nvim-0.10') == 0 then
  return require('ctxls.old')
end

local M = {}

---Sets options. What is not given has its default; an unknown or wrong one is an error. It need not be called, and may
---be called again.
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

---The gauge as plain text, say "72% · 23k left"; "" where there is nothing to show. It returns a string that is
---at hand: it may be called as often as a statusline is drawn. The first call starts the server, later.
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

---Starts the server, in place of the one that runs.
function M.restart()
  require('ctxls.server').restart()
end

return M

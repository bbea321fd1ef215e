-- The plugin where Neovim is too old. Nothing here may need a newer one.
local M = {}

local version = vim.version()

M.why =
  string.format('ctxls needs Neovim 0.10 or newer, and this is %d.%d.%d.', version.major, version.minor, version.patch)

function M.setup()
  vim.notify(M.why, vim.log.levels.ERROR)
end

local function nothing()
  return ''
end

M.status, M.statusline, M.highlight = nothing, nothing, nothing

function M.sessions()
  return {}
end

function M.session() end

function M.watch() end

function M.breakdown(_, done)
  done(M.why)
end

M.history = M.breakdown

function M.server()
  return { kind = 'failed', why = M.why }
end

function M.start() end

function M.shown() end

function M.pin() end

function M.restart() end

return M

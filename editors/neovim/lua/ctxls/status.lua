-- The gauge for statuslines: made when something changes, and only returned when a statusline is drawn.
local colours = require('ctxls.colours')
local config = require('ctxls.config')
local log = require('ctxls.log')
local server = require('ctxls.server')
local sessions = require('ctxls.sessions')
local text = require('ctxls.text')

local M = {}

---The gauge as it is now.
local now = { plain = '', coloured = '', group = '' }
local asked = false

---@return string plain, string group
local function gauge()
  local options = config.options
  local shown = sessions.shown()
  if server.state().kind == 'failed' then
    return vim.trim(options.icons.failed .. ' ctxls'), 'CtxlsFailed'
  elseif shown then
    return text.fill(options.format, shown, options.icons), colours.of(shown.usage.level)
  end
  return options.quiet, ''
end

local function update()
  local plain, group = gauge()
  local escaped = plain:gsub('%%', '%%%%')
  local bar = colours.in_statusline(group)
  local coloured = bar ~= '' and ('%%#%s#%s%%*'):format(bar, escaped) or escaped
  local same = plain == now.plain and coloured == now.coloured and group == now.group
  now = { plain = plain, coloured = coloured, group = group }
  if not same then
    vim.cmd('redrawstatus! | redrawtabline')
  end
end

local pending = false
---The keys of the sessions that changed, and of those that are gone.
local changed, removed = {}, {}

local function announce()
  local shown = sessions.shown()
  local data = { session = shown and sessions.key(shown), status = now.plain }
  vim.api.nvim_exec_autocmds('User', { pattern = 'CtxlsUpdate', modeline = false, data = data })
  data = vim.tbl_extend('error', data, { changed = vim.tbl_keys(changed), removed = vim.tbl_keys(removed) })
  changed, removed = {}, {}
  vim.api.nvim_exec_autocmds('User', { pattern = 'CtxlsChanged', modeline = false, data = data })
end

---Changes that come together are shown together.
---@param changes? ctxls.Change[]
local function soon(changes)
  for _, change in ipairs(changes or {}) do
    local key = sessions.key(change.now or change.before)
    changed[key], removed[key] = change.now and true or nil, not change.now or nil
  end
  if pending then
    return
  end
  pending = true
  vim.schedule(function()
    pending = false
    local fine, problem = pcall(update)
    if not fine then -- a figure of the wrong type; an error would come again with each change
      log.said('what the server said cannot be shown: ' .. tostring(problem))
    end
    announce()
  end)
end

local function ask()
  if asked then
    return
  end
  asked = true
  vim.schedule(server.start)
end

---@return string
function M.plain()
  ask()
  return now.plain
end

---@return string
function M.coloured()
  ask()
  return now.coloured
end

---@return string
function M.group()
  return now.group
end

local function dress()
  colours.define()
  soon()
end

---Takes over options that changed.
function M.setup()
  dress()
end

colours.define()
local augroup = vim.api.nvim_create_augroup('ctxls', {})
vim.api.nvim_create_autocmd('ColorScheme', { group = augroup, desc = 'ctxls: its highlight groups', callback = dress })
vim.api.nvim_create_autocmd('OptionSet', {
  group = augroup,
  pattern = { 'background', 'termguicolors' },
  desc = 'ctxls: its highlight groups',
  callback = dress,
})
vim.api.nvim_create_autocmd('DirChanged', {
  group = augroup,
  desc = 'ctxls: the sessions of the new directory',
  callback = function()
    if server.follow() then
      sessions.refresh()
    end
  end,
})
vim.api.nvim_create_autocmd('VimLeavePre', { group = augroup, desc = 'ctxls: stop the server', callback = server.exit })
sessions.watch(function(changes)
  soon(changes)
end)
server.watch(function()
  soon()
end)
require('ctxls.notices')

return M

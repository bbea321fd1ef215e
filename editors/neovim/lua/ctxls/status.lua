-- The gauge for statuslines: worked out when something changes, and only handed out when one is drawn.
local config = require('ctxls.config')
local server = require('ctxls.server')
local sessions = require('ctxls.sessions')
local text = require('ctxls.text')

local M = {}

---The group of each level, and what it links to unless somebody defined it.
local links = {
  CtxlsNotice = 'DiagnosticInfo',
  CtxlsWarning = 'DiagnosticWarn',
  CtxlsCritical = 'DiagnosticError',
  CtxlsUnknown = 'Comment',
  CtxlsFailed = 'DiagnosticError',
  CtxlsLabel = 'Comment',
  CtxlsTitle = 'Title',
}

local groups = { normal = 'CtxlsNormal', notice = 'CtxlsNotice', warning = 'CtxlsWarning', critical = 'CtxlsCritical' }

---What is handed out.
local now = { plain = '', coloured = '', group = '' }
local asked = false

---The highlight group of a level; nil is an unknown one.
---@param level? string
---@return string
function M.group_of(level)
  return groups[level] or 'CtxlsUnknown'
end

---@return string plain, string group
local function gauge()
  local options = config.options
  local shown = sessions.shown()
  if server.state().kind == 'failed' then
    return vim.trim(options.icons.failed .. ' ctxls'), 'CtxlsFailed'
  elseif shown then
    return text.fill(options.format, shown, options.icons), M.group_of(shown.usage.level)
  end
  return options.quiet, ''
end

---A group without colours would set the background of the text into the bar of Neovim 0.10.
local function has_colour(group)
  return group ~= '' and next(vim.api.nvim_get_hl(0, { name = group })) ~= nil
end

local function update()
  local plain, group = gauge()
  local escaped = plain:gsub('%%', '%%%%')
  local coloured = has_colour(group) and ('%%#%s#%s%%*'):format(group, escaped) or escaped
  local same = plain == now.plain and coloured == now.coloured and group == now.group
  now = { plain = plain, coloured = coloured, group = group }
  if not same then
    vim.cmd('redrawstatus! | redrawtabline')
  end
end

local pending = false

---Changes that come together are shown together.
local function soon()
  if pending then
    return
  end
  pending = true
  vim.schedule(function()
    pending = false
    update()
    local shown = sessions.shown()
    vim.api.nvim_exec_autocmds('User', {
      pattern = 'CtxlsUpdate',
      modeline = false,
      data = { session = shown and sessions.key(shown), status = now.plain },
    })
  end)
end

local function define()
  for group, link in pairs(links) do
    vim.api.nvim_set_hl(0, group, { link = link, default = true })
  end
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

---Takes over options that changed.
function M.setup()
  soon()
end

define()
local augroup = vim.api.nvim_create_augroup('ctxls', {})
vim.api.nvim_create_autocmd('ColorScheme', {
  group = augroup,
  desc = 'ctxls: its highlight groups',
  callback = function()
    define()
    soon()
  end,
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
vim.api.nvim_create_autocmd(
  'VimLeavePre',
  { group = augroup, desc = 'ctxls: stop the server', callback = server.leave }
)
sessions.watch(soon)
server.watch(function()
  soon()
end)
require('ctxls.notices')

return M

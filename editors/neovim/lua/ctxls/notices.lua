-- What ctxls says without being asked: little, and once.
local config = require('ctxls.config')
local server = require('ctxls.server')
local sessions = require('ctxls.sessions')
local text = require('ctxls.text')

local M = {}

---@param message string
---@param level integer
function M.say(message, level)
  -- Right after a prompt an older Neovim would write on its line.
  vim.cmd('redraw')
  vim.notify('ctxls: ' .. message, level)
end

---Says the first message that fits on the last line: after a longer one Neovim waits for a key. Returns the message.
---@param level integer
---@param ... string messages, the longest first; the last one is said in any case
---@return string
local function mention(level, ...)
  local messages = { ... }
  for i, message in ipairs(messages) do
    if i == #messages or vim.api.nvim_strwidth('ctxls: ' .. message) <= vim.v.echospace then
      M.say(message, level)
      return message
    end
  end
  return ''
end

---Sessions that are critical, whether or not the user was told.
---@type table<string, true>
local known = {}
---Those that the user is to be told of.
---@type table<string, true>
local waiting = {}

---The last message about critical sessions, and those of them that are still critical.
---@type { text: string, keys: table<string, true> }?
local told

---Clears the last line if it still shows that message. What replaces vim.notify() shows and removes messages itself.
local function withdraw()
  local lines = vim.split(vim.fn.execute('messages'), '\n', { trimempty = true })
  if lines[#lines] == told.text and vim.api.nvim_get_mode().mode ~= 'c' then
    vim.api.nvim_echo({ { '' } }, false, {})
  end
  told = nil
end

---Sessions that become critical within so many milliseconds share a message.
local gathering = 300

---Whether this Neovim has the focus, where the terminal tells: of several on one project, that one speaks.
local focused = true

---@param s ctxls.Session
---@return string
local function one(s)
  local u = s.usage
  local left = text.left(u) ~= '' and ', ' .. text.left_in_words(u) or ''
  local name, percent = text.name(s), text.mark(u) .. (u.display.percent or text.unknown)
  return mention(
    vim.log.levels.WARN,
    ('%s: the context window is %s%% full%s.'):format(name, percent, left),
    ('%s: the context window is %s%% full.'):format(name, percent),
    ('a context window is %s%% full.'):format(percent)
  )
end

local function speak()
  if not focused then
    return
  end
  local critical, keys, message = {}, waiting, nil
  for key in pairs(waiting) do
    critical[#critical + 1] = sessions.get(key)
  end
  waiting = {}
  if not config.options.notify.critical then
    return
  elseif #critical == 1 then
    message = one(critical[1])
  elseif #critical > 1 then
    message = mention(
      vim.log.levels.WARN,
      ('the context windows of %d sessions are critically full; see :Ctxls sessions.'):format(#critical),
      ('%d context windows are critically full.'):format(#critical)
    )
  end
  told = message and { text = 'ctxls: ' .. message, keys = keys } or told
end

---Notes a session that crosses into critical. One that was critical when it was first seen crossed nothing.
---@param change ctxls.Change
local function look(change)
  local before, now = change.before, change.now
  local key = sessions.key(now or before)
  local level = now and now.usage.level
  if level ~= 'critical' then
    if not now or level then
      known[key], waiting[key] = nil, nil -- an unknown level is no sign of room
      if told and told.keys[key] then
        told.keys[key] = nil
        if not next(told.keys) then
          withdraw()
        end
      end
    end
    return
  end
  local crossed = before and before.usage.level ~= 'critical' -- also from an unknown level: a full session was resumed
  if crossed and not known[key] then
    if not next(waiting) then
      vim.defer_fn(speak, gathering)
    end
    waiting[key] = true
  end
  known[key] = true
end

local group = vim.api.nvim_create_augroup('ctxls_notices', {})
vim.api.nvim_create_autocmd('FocusLost', {
  group = group,
  callback = function()
    focused = false
  end,
})
vim.api.nvim_create_autocmd('FocusGained', {
  group = group,
  callback = function()
    focused = true
    speak()
  end,
})

sessions.watch(function(changes)
  for _, change in ipairs(changes) do
    if change.now or change.before then
      look(change)
    end
  end
end)

server.on('metrics/thresholdExceeded', function(alert)
  if config.options.notify.fleet then
    mention(
      vim.log.levels.WARN,
      ('%.1f%% of the last %s tasks were larger than their threshold; at most %.0f%% should be.'):format(
        alert.rate * 100,
        text.exactly(alert.tasks),
        alert.threshold * 100
      ),
      ('%.1f%% of the last tasks were too large.'):format(alert.rate * 100)
    )
  end
end)

server.watch(function(state)
  if state.kind == 'failed' then
    mention(vim.log.levels.ERROR, state.why .. '; see :checkhealth ctxls', 'it does not run; see :checkhealth ctxls')
  end
end)

return M

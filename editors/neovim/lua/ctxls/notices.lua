-- What is said without being asked: little, and once.
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

---Says what nobody asked for: the first message that fits on the last line, since a longer one makes Neovim wait for a key.
---@param level integer
---@param ... string the last one is said in any case
local function mention(level, ...)
  local messages = { ... }
  for i, message in ipairs(messages) do
    if i == #messages or vim.api.nvim_strwidth('ctxls: ' .. message) <= vim.v.echospace then
      M.say(message, level)
      return
    end
  end
end

---Sessions of which it was said that they are critical, until they are no more.
---@type table<string, true>
local told = {}

---@param s ctxls.Session
local function critical(s)
  local u = s.usage
  local left = u.toCompaction
    and (', %s%s tokens are left to compaction'):format(text.mark(u), text.tokens(u.toCompaction))
  local name, percent = text.name(s), text.mark(u) .. (u.display.percent or text.unknown)
  mention(
    vim.log.levels.WARN,
    ('%s: the context window is %s %% full%s.'):format(name, percent, left or ''),
    ('%s: the context window is %s %% full.'):format(name, percent),
    ('a context window is %s %% full.'):format(percent)
  )
end

---Speaks where a session crosses into critical. One that was critical when it was first seen crossed nothing.
---@param change ctxls.Change
local function look(change)
  local before, now = change.before, change.now
  local key = sessions.key(now or before)
  local level = now and now.usage.level
  if level ~= 'critical' then
    if not now or level then
      told[key] = nil -- an unknown level is no sign of room
    end
    return
  end
  local crossed = before and before.usage.level ~= 'critical' -- also from an unknown level: a full session was taken up again
  if crossed and not told[key] and config.options.notify.critical then
    critical(now)
  end
  told[key] = true
end

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
      ('%.1f %% of the last %s tasks were larger than their threshold; at most %.0f %% should be.'):format(
        alert.rate * 100,
        text.exactly(alert.tasks),
        alert.threshold * 100
      ),
      ('%.1f %% of the last tasks were too large.'):format(alert.rate * 100)
    )
  end
end)

server.watch(function(state)
  if state.kind == 'failed' then
    mention(vim.log.levels.ERROR, state.why .. '; see :checkhealth ctxls', 'it does not run; see :checkhealth ctxls')
  end
end)

return M

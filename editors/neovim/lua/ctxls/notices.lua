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

---Sessions of which it was said that they are critical, until they are no more.
---@type table<string, true>
local told = {}

---@param s ctxls.Session
local function critical(s)
  local u = s.usage
  local left = u.toCompaction
    and (', %s%s tokens are left to compaction'):format(text.mark(u), text.tokens(u.toCompaction))
  M.say(
    ('%s: the context window is %s%s %% full%s.'):format(
      text.name(s),
      text.mark(u),
      u.display.percent or text.unknown,
      left or ''
    ),
    vim.log.levels.WARN
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
  local crossed = before and before.usage.level and before.usage.level ~= 'critical'
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
    M.say(
      ('%.1f %% of the last %s tasks were larger than their threshold; at most %.0f %% should be.'):format(
        alert.rate * 100,
        text.exactly(alert.tasks),
        alert.threshold * 100
      ),
      vim.log.levels.WARN
    )
  end
end)

server.watch(function(state)
  if state.kind == 'failed' then
    M.say(('%s. :checkhealth ctxls tells more.'):format(state.why), vim.log.levels.ERROR)
  end
end)

return M

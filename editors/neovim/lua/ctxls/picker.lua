-- The list of sessions, from which one is pinned to the statusline.
local notices = require('ctxls.notices')
local sessions = require('ctxls.sessions')
local text = require('ctxls.text')

local M = {}

---@param s ctxls.Session
---@param now number
local function row(s, now)
  local u = s.usage
  local pinned = sessions.pinned()
  local is_pinned = pinned and sessions.key(pinned) == sessions.key(s)
  local parts = {
    ('%s%s  %s %s'):format(
      text.name(s),
      is_pinned and ' (pinned)' or '',
      text.bar(u.display.percent, 10),
      text.percent(u)
    ),
    u.toCompaction and ('%s%s left'):format(text.mark(u), text.tokens(u.toCompaction)) or '',
    text.line(s.model),
    text.line(s.host),
    text.line(vim.fn.fnamemodify(s.cwd, ':~'), 80),
    text.age(s.updatedAt, now),
    s.state == 'active' and '' or s.state,
    s.compacting and 'compacting now' or '',
    #s.agents > 0 and ('%d %s'):format(#s.agents, #s.agents == 1 and 'sub-agent' or 'sub-agents') or '',
  }
  return table.concat(
    vim.tbl_filter(function(part)
      return part ~= ''
    end, parts),
    ' · '
  )
end

---Shows the list.
function M.open()
  sessions.fresh(function(why)
    if why then
      notices.say(why, vim.log.levels.ERROR)
      return
    end
    ---@type (ctxls.Session|{follow: true})[]
    local items = sessions.list()
    if #items == 0 then
      notices.say('no session is known in this project; see :Ctxls install', vim.log.levels.INFO)
      return
    end
    if sessions.pinned() then
      table.insert(items, 1, { follow = true })
    end
    local now = os.time()
    vim.ui.select(items, {
      prompt = 'Pin a session to the statusline:',
      kind = 'ctxls',
      format_item = function(item)
        return item.follow and 'Follow the newest session' or row(item, now)
      end,
    }, function(chosen)
      if chosen then
        sessions.pin(not chosen.follow and sessions.key(chosen) or nil)
      end
    end)
  end)
end

return M

-- The list of sessions, from which one is pinned to the statusline.
local notices = require('ctxls.notices')
local sessions = require('ctxls.sessions')
local text = require('ctxls.text')

local M = {}

---The width of the bar, and the least and the most of a name, in cells.
local cells = { bar = 10, name = { 12, 40 } }

---What stands before and after a row: vim.ui.select() numbers the rows.
local frame = 8

---@param s ctxls.Session
---@param now number
---@return {share: string, bar: string, name: string, rest: string[]}
local function columns(s, now)
  local u = s.usage
  local pinned = sessions.pinned()
  local is_pinned = pinned and sessions.key(pinned) == sessions.key(s)
  local state = s.compacting and 'compacting now' or s.state ~= 'active' and s.state or ''
  local agents = #s.agents > 0 and ('%d %s'):format(#s.agents, #s.agents == 1 and 'sub-agent' or 'sub-agents') or ''
  return {
    share = text.percent(u),
    bar = text.gauge(u, cells.bar),
    name = (is_pinned and '* ' or '') .. text.name(s),
    -- What comes first is left out last.
    rest = {
      text.left(u) ~= '' and text.left(u) .. ' left' or '',
      text.age(s.updatedAt, now),
      state,
      agents,
      text.line(s.host),
      text.line(s.model, 30),
      text.line(vim.fn.fnamemodify(s.cwd, ':~'), 60),
    },
  }
end

---Writes sessions as rows that fit the screen, with columns below each other. A column that has no room is left out.
---@param list ctxls.Session[]
---@param width integer cells
---@param now number seconds since 1970
---@return table<string, string> rows by the key of the session
function M.rows(list, width, now)
  local all, name_width, rest_widths = {}, cells.name[1], {}
  for i, s in ipairs(list) do
    all[i] = columns(s, now)
    name_width = math.max(name_width, vim.api.nvim_strwidth(all[i].name))
    for n, part in ipairs(all[i].rest) do
      rest_widths[n] = math.max(rest_widths[n] or 0, vim.api.nvim_strwidth(part))
    end
  end
  name_width = math.min(name_width, cells.name[2])
  local before = 5 + 1 + cells.bar + 2
  if before + name_width > width then
    name_width = math.max(width - before, 1)
  end
  local used, shown = before + name_width, 0
  for n, wide in ipairs(rest_widths) do
    local more = wide > 0 and wide + 2 or 0
    if used + more > width then
      break
    end
    used, shown = used + more, n
  end
  local rows = {}
  for i, s in ipairs(list) do
    local row = ('%5s %s  %s'):format(all[i].share, all[i].bar, text.fit(all[i].name, name_width))
    for n = 1, shown do
      if rest_widths[n] > 0 then
        row = row .. '  ' .. text.fit(all[i].rest[n], rest_widths[n])
      end
    end
    rows[sessions.key(s)] = (row:gsub(' +$', ''))
  end
  return rows
end

---Shows the list.
function M.open()
  sessions.fresh(function(why)
    if why then
      notices.say(why, vim.log.levels.ERROR)
      return
    end
    local list = vim.deepcopy(sessions.list())
    if #list == 0 then
      notices.say('no session is known in this project; see :Ctxls install', vim.log.levels.INFO)
      return
    end
    local rows = M.rows(list, vim.o.columns - frame, os.time())
    ---@type (ctxls.Session|{follow: true})[]
    local items = list
    if sessions.pinned() then
      table.insert(items, 1, { follow = true })
    end
    vim.ui.select(items, {
      prompt = ('Pin a session to the statusline%s:'):format(sessions.note() and '; ' .. sessions.note() or ''),
      kind = 'ctxls',
      format_item = function(item)
        return item.follow and 'Follow the newest session' or rows[sessions.key(item)]
      end,
    }, function(chosen)
      if chosen then
        sessions.pin(not chosen.follow and sessions.key(chosen) or nil)
      end
    end)
  end)
end

---Pins a session by its key, or the one that is shown; says so where there is none.
---@param key? string
function M.pin(key)
  sessions.fresh(function(why)
    local session = not why and (key and sessions.get(key) or not key and sessions.shown())
    if why then
      notices.say(why, vim.log.levels.ERROR)
    elseif session then
      sessions.pin(sessions.key(session))
    else
      notices.say(
        key and ('no session is called "%s"'):format(key) or 'no session is active in this project',
        vim.log.levels.ERROR
      )
    end
  end)
end

return M

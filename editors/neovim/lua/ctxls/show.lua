-- Everything about one session, in a floating window that follows what happens to it.
local colours = require('ctxls.colours')
local facts = require('ctxls.facts')
local server = require('ctxls.server')
local sessions = require('ctxls.sessions')
local sparkline = require('ctxls.sparkline')
local text = require('ctxls.text')
local window = require('ctxls.window')

local M = {}

---At most one question about what fills a window within so many milliseconds: it costs the server a look at the transcript.
local pause = 3000

---Cells of the parts of the window, and how much of a list is shown.
local cells = { gauge = 24, history = 60, part = 12, label = 12 }
local most = { parts = 12, files = 10 }

---@class ctxls.Shown
---@field samples? ctxls.Sample[] nil until it was asked
---@field breakdown? ctxls.Breakdown
---@field problem? string why one of them is not there

---@param lines ctxls.Line[]
local function heading(lines, title)
  vim.list_extend(lines, { {}, { { ' ' .. title, 'CtxlsTitle' } } })
end

local function rest(lines, all, limit)
  if #all > limit then
    lines[#lines + 1] = { { (' and %d more'):format(#all - limit), 'CtxlsLabel' } }
  end
end

---@param lines ctxls.Line[]
---@param parts ctxls.Part[]
local function amounts(lines, parts)
  parts = vim.deepcopy(parts)
  table.sort(parts, function(a, b)
    if a.tokens == b.tokens then
      return facts.part(a) < facts.part(b)
    end
    return a.tokens > b.tokens
  end)
  local sum, wide = 0, 0
  for i, part in ipairs(parts) do
    sum = sum + part.tokens
    wide = i <= most.parts and math.max(wide, vim.api.nvim_strwidth(facts.part(part))) or wide
  end
  for i = 1, math.min(#parts, most.parts) do
    local part = parts[i]
    local name = facts.part(part)
    lines[#lines + 1] = {
      { ' ' .. name .. (' '):rep(wide - vim.api.nvim_strwidth(name) + 2) },
      { text.bar(100 * part.tokens / parts[1].tokens, cells.part), 'CtxlsLabel' },
      { ('%8s%5.0f %%'):format('~' .. text.tokens(part.tokens), 100 * part.tokens / sum) },
    }
  end
  rest(lines, parts, most.parts)
end

---@param lines ctxls.Line[]
---@param shown ctxls.Shown
local function filling(lines, shown)
  heading(lines, 'What fills it')
  local breakdown = shown.breakdown
  if not breakdown then
    lines[#lines + 1] = { { ' ' .. (shown.problem and text.line(shown.problem, 100) or '…'), 'CtxlsLabel' } }
    return
  elseif not breakdown.tokens then
    local why = text.line(breakdown.why, 100)
    lines[#lines + 1] = { { ' Not known' .. (why ~= '' and ': ' .. why or '') .. '.', 'CtxlsLabel' } }
    return
  end
  amounts(lines, breakdown.parts)
  if breakdown.lastTurn and #breakdown.lastTurn.parts > 0 then
    heading(lines, 'What the last turn added')
    amounts(lines, breakdown.lastTurn.parts)
  end
end

---@param lines ctxls.Line[]
---@param s ctxls.Session
---@param breakdown? ctxls.Breakdown
local function working_set(lines, s, breakdown)
  heading(lines, 'Works on')
  if #s.workingSet == 0 then
    lines[#lines + 1] = { { ' No file yet.', 'CtxlsLabel' } }
  end
  local cost = {}
  for _, file in ipairs(breakdown and breakdown.files or {}) do
    cost[file.path] = file.tokens
  end
  for i = 1, math.min(#s.workingSet, most.files) do
    local path = s.workingSet[i]
    lines[#lines + 1] =
      { { ' ' .. text.line(path, 90) }, { cost[path] and '  ~' .. text.tokens(cost[path]) or '', 'CtxlsLabel' } }
  end
  rest(lines, s.workingSet, most.files)
end

---@param lines ctxls.Line[]
---@param samples? ctxls.Sample[]
---@param now number
local function history(lines, samples, now)
  heading(lines, 'History')
  if not samples or #samples == 0 then
    lines[#lines + 1] = { { samples and ' Nothing was reported yet.' or ' …', 'CtxlsLabel' } }
    return
  end
  local drawn, marks = sparkline.draw(samples, cells.history)
  lines[#lines + 1] = { { ' ' }, { drawn, 'CtxlsNotice' } }
  if marks then
    lines[#lines + 1] = { { ' ' .. marks .. ' compacted', 'CtxlsLabel' } }
  end
  local from, to = text.age(samples[1].at, now), text.age(samples[#samples].at, now)
  local gap = math.max(cells.history - #from - #to, 1)
  lines[#lines + 1] = { { ' ' .. from .. (' '):rep(gap) .. to, 'CtxlsLabel' } }
end

---@param s ctxls.Session
---@param shown ctxls.Shown
---@param now number
---@return ctxls.Line[]
local function draw(s, shown, now)
  local u = s.usage
  local group = colours.of(u.level)
  local left = u.toCompaction and text.mark(u) .. text.exactly(u.toCompaction) or text.unknown
  local lines = {
    {
      { ' ' .. text.bar(u.display.percent, cells.gauge) .. ' ', group },
      { text.percent(u), group },
      { s.compacting and ' · compacting now' or (' · %s tokens to compaction'):format(left) },
    },
    {},
  }
  for _, fact in ipairs(facts.of(s, now)) do
    lines[#lines + 1] = { { ' ' .. fact[1] .. (' '):rep(cells.label - #fact[1]), 'CtxlsLabel' }, { fact[2] } }
  end
  history(lines, shown.samples, now)
  filling(lines, shown)
  working_set(lines, s, shown.breakdown)
  if #s.agents > 0 then
    heading(lines, 'Sub-agents')
    for _, agent in ipairs(s.agents) do
      local name = text.line(agent.agentType, 30)
      lines[#lines + 1] = {
        { (' %s '):format(name ~= '' and name or 'agent') },
        { text.bar(agent.usage.display.percent, 10), colours.of(agent.usage.level) },
        { ' ' .. text.percent(agent.usage) },
      }
    end
  end
  return lines
end

---@param s ctxls.Session
local function open(s)
  local key, name = sessions.key(s), text.name(s)
  ---@type ctxls.Shown
  local shown = {}
  local float = window.float(name, draw(s, shown, os.time()))
  local asked_of, asked_at = nil, -math.huge

  local function update()
    if float:is_open() then
      local now = sessions.get(key)
      float:set(now and draw(now, shown, os.time()) or { { { ' This session has ended.', 'CtxlsLabel' } } })
    end
  end

  ---Asks for what a session's other members do not tell, where it has changed since.
  local function ask()
    local now = sessions.get(key)
    local of = now and ('%s %s %d'):format(now.usage.asOf, now.usage.tokens, now.compactions)
    if not now or of == asked_of or not float:is_open() then
      return
    end
    local wait = asked_at + pause - vim.uv.now()
    if wait > 0 then
      vim.defer_fn(ask, wait)
      return
    end
    asked_of, asked_at = of, vim.uv.now()
    local who = { host = now.host, sessionId = now.sessionId }
    server.request('session/history', who, function(why, result)
      shown.samples, shown.problem = result and result.samples, why
      update()
    end)
    server.request('session/get', vim.tbl_extend('error', who, { breakdown = true }), function(why, result)
      shown.breakdown, shown.problem = result and result.breakdown, why
      update()
    end)
  end

  ask()
  sessions.watch(function()
    if not float:is_open() then
      return true
    end
    update()
    ask()
  end)
end

---Opens the window.
---@param key? string of the session, "host/id"; without one it is the one in the statusline, or else the newest
function M.open(key)
  sessions.fresh(function(why)
    local notices = require('ctxls.notices')
    local s = key and sessions.get(key) or not key and (sessions.shown() or sessions.list()[1])
    if why then
      notices.say(why, vim.log.levels.ERROR)
    elseif s then
      open(s)
    elseif key then
      notices.say(('no session is called "%s"'):format(key), vim.log.levels.ERROR)
    else
      notices.say('no session is known in this project; see :Ctxls install', vim.log.levels.INFO)
    end
  end)
end

return M

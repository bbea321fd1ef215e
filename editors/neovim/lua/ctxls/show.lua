-- One session in a floating window that follows its changes.
local colours = require('ctxls.colours')
local facts = require('ctxls.facts')
local sessions = require('ctxls.sessions')
local sparkline = require('ctxls.sparkline')
local text = require('ctxls.text')
local window = require('ctxls.window')

local M = {}

---The shortest time between two requests for what fills a window, in milliseconds: the server reads the transcript to answer.
local pause = 3000

---Cells of labels, and the most of a list that is shown.
local label = 12
local most = { parts = 12, files = 10 }

---The keys of the window, as the user is told them.
local keys = {
  { '<CR>, gf', 'open the file under the cursor' },
  { 'c', 'list the files in the quickfix window' },
  { 'p', 'pin the session to the statusline, or unpin it' },
  { 's', 'choose another session' },
  { '?', 'show or hide these keys' },
  { 'q, <Esc>', 'close' },
}

---@class ctxls.Shown
---@field samples? ctxls.Sample[] nil until the server answered
---@field breakdown? ctxls.Breakdown
---@field problem? string why one of them is not known
---@field help? boolean whether the keys are shown

---@param lines ctxls.Line[]
local function heading(lines, title)
  vim.list_extend(lines, { {}, { { ' ' .. title, 'CtxlsTitle' } } })
end

local function rest(lines, all, limit)
  if #all > limit then
    lines[#lines + 1] = { { (' and %d more'):format(#all - limit), 'CtxlsLabel' } }
  end
end

---Writes a text in quiet colour, over as many lines as it takes.
---@param lines ctxls.Line[]
local function quiet(lines, said, width)
  for _, line in ipairs(text.wrap(said, width - 2)) do
    lines[#lines + 1] = { { ' ' .. line, 'CtxlsLabel' } }
  end
end

---@param lines ctxls.Line[]
---@param parts ctxls.Part[]
---@param width integer
local function amounts(lines, parts, width)
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
  local figures = 14 -- "    ~128k   64%"
  wide = math.min(wide, math.max(width - figures - 3, 4))
  local bar = math.min(math.max(width - wide - figures - 5, 0), 40)
  for i = 1, math.min(#parts, most.parts) do
    local part = parts[i]
    lines[#lines + 1] = {
      { ' ' .. text.fit(facts.part(part), wide) .. (bar > 3 and '  ' or '') },
      { bar > 3 and text.bar(100 * part.tokens / parts[1].tokens, bar) or '', 'CtxlsLabel' },
      { ('%8s%6s'):format('~' .. text.tokens(part.tokens), text.share_of(part.tokens, sum)) },
    }
  end
  rest(lines, parts, most.parts)
end

---@param lines ctxls.Line[]
---@param shown ctxls.Shown
---@param width integer
local function filling(lines, shown, width)
  heading(lines, 'What fills it')
  local breakdown = shown.breakdown
  if not breakdown then
    quiet(lines, shown.problem and text.line(shown.problem, 100) or '…', width)
    return
  elseif not breakdown.tokens then
    local why = text.line(breakdown.why, 100)
    quiet(lines, 'Not known' .. (why ~= '' and ': ' .. why or '') .. '.', width)
    return
  end
  amounts(lines, breakdown.parts, width)
  if breakdown.lastTurn and #breakdown.lastTurn.parts > 0 then
    heading(lines, 'What the last turn added')
    amounts(lines, breakdown.lastTurn.parts, width)
  end
end

---Lists files with what they cost. A key opens the one under the cursor.
---@param lines ctxls.Line[]
---@param paths string[]
---@param cost table<string, integer>
---@param width integer
local function files(lines, paths, cost, width)
  for i = 1, math.min(#paths, most.files) do
    local tokens = cost[paths[i]] and '  ~' .. text.tokens(cost[paths[i]]) or ''
    local shown = text.middle(text.line(paths[i], 300), math.max(width - 2 - #tokens, 8))
    lines[#lines + 1] = { { ' ' .. shown }, { tokens, 'CtxlsLabel' }, path = paths[i] }
  end
  rest(lines, paths, most.files)
end

---@param lines ctxls.Line[]
---@param s ctxls.Session
---@param breakdown? ctxls.Breakdown
---@param width integer
local function working_set(lines, s, breakdown, width)
  heading(lines, 'Works on')
  if #s.workingSet == 0 then
    lines[#lines + 1] = { { ' No file yet.', 'CtxlsLabel' } }
  end
  local cost, others = {}, {}
  for _, file in ipairs(breakdown and breakdown.files or {}) do
    cost[file.path] = file.tokens
    if not vim.list_contains(s.workingSet, file.path) then
      others[#others + 1] = file.path
    end
  end
  files(lines, s.workingSet, cost, width)
  if #others > 0 then
    heading(lines, 'Other files in it')
    files(lines, others, cost, width)
  end
end

---@param lines ctxls.Line[]
---@param samples? ctxls.Sample[]
---@param now number
---@param width integer
local function history(lines, samples, now, width)
  heading(lines, 'History')
  if not samples or #samples == 0 then
    lines[#lines + 1] = { { samples and ' Nothing was reported yet.' or ' …', 'CtxlsLabel' } }
    return
  end
  local cells = width - 2
  local drawn, marks = sparkline.draw(samples, cells)
  lines[#lines + 1] = { { ' ' }, { drawn, 'CtxlsNotice' } }
  if marks then
    local word = vim.api.nvim_strwidth(marks) + 10 <= cells and ' compacted' or ''
    lines[#lines + 1] = { { ' ' .. marks .. word, 'CtxlsLabel' } }
  end
  local from, to = text.age(samples[1].at, now), text.age(samples[#samples].at, now)
  local gap = math.max(cells - #from - #to, 1)
  lines[#lines + 1] = { { ' ' .. from .. (' '):rep(gap) .. to, 'CtxlsLabel' } }
end

---@param lines ctxls.Line[]
---@param s ctxls.Session
---@param now number
---@param width integer
local function known(lines, s, now, width)
  -- On a narrow screen a value stands below its label.
  local below = width < 44
  for _, fact in ipairs(facts.of(s, now)) do
    local indent = below and 3 or label + 1
    local values = text.wrap(fact[2], width - indent - 1)
    if below then
      lines[#lines + 1] = { { ' ' .. fact[1], 'CtxlsLabel' } }
    end
    for i, value in ipairs(values) do
      local before = (i > 1 or below) and (' '):rep(indent) or ' ' .. text.fit(fact[1], label)
      lines[#lines + 1] = { { before, 'CtxlsLabel' }, { value } }
    end
  end
end

---@param s ctxls.Session
---@param shown ctxls.Shown
---@param now number
---@return ctxls.Line[]
local function draw(s, shown, now)
  local width = window.width()
  local u = s.usage
  local group = colours.of(u.level)
  local left = s.compacting and 'compacting now' or text.left_in_words(u, text.exactly)
  local level = (u.level == 'warning' or u.level == 'critical') and u.level .. ' · ' or ''
  local gauge = {
    { ' ' .. text.gauge(u, math.max(math.min(math.floor(width * 0.4), 40), 8)) .. ' ', group },
    { text.percent(u), group },
  }
  local lines = { gauge }
  local used = vim.api.nvim_strwidth(gauge[1][1] .. gauge[2][1])
  if used + 3 + #level + #left <= width then
    gauge[3] = { ' · ' .. level .. left }
  else
    lines[2] = { { ' ' .. level .. left } }
  end
  if shown.help then
    heading(lines, 'Keys')
    for _, key in ipairs(keys) do
      lines[#lines + 1] = { { ' ' .. text.fit(key[1], label), 'CtxlsLabel' }, { key[2] } }
    end
  end
  lines[#lines + 1] = {}
  known(lines, s, now, width)
  history(lines, shown.samples, now, width)
  filling(lines, shown, width)
  working_set(lines, s, shown.breakdown, width)
  if #s.agents > 0 then
    heading(lines, 'Sub-agents')
    for _, agent in ipairs(s.agents) do
      local name = text.line(agent.agentType, 30)
      lines[#lines + 1] = {
        { (' %s '):format(text.middle(name ~= '' and name or 'agent', math.max(width - 20, 8))) },
        { text.gauge(agent.usage, 10), colours.of(agent.usage.level) },
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
  local float = window.float(name, draw(s, shown, os.time()), { footer = 'q close · ? keys' })
  local asked_of, asked_at = nil, -math.huge

  local function update()
    if float:is_open() then
      local now = sessions.get(key)
      float:set(now and draw(now, shown, os.time()) or { { { ' This session has ended.', 'CtxlsLabel' } } })
    end
  end
  float.on_resize = update

  float:map({ '<CR>', 'gf' }, 'Open the file under the cursor', function()
    local path = float:path()
    if path then
      require('ctxls.files').open(s, path, function()
        float:close()
      end)
    end
  end)
  float:map({ 'c' }, 'List the files in the quickfix window', function()
    float:close()
    require('ctxls.files').quickfix(key)
  end)
  float:map({ 'p' }, 'Pin or unpin the session', function()
    local pinned = sessions.pinned()
    sessions.pin(not (pinned and sessions.key(pinned) == key) and key or nil)
  end)
  float:map({ 's' }, 'Choose another session', function()
    float:close()
    require('ctxls.picker').open()
  end)
  float:map({ '?' }, 'Show or hide the keys', function()
    shown.help = not shown.help
    update()
    vim.api.nvim_win_set_cursor(0, { 1, 0 })
  end)

  ---Asks for what the session itself does not hold, where the session has changed.
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
    sessions.history(now, function(why, samples)
      shown.samples, shown.problem = samples, why
      update()
    end)
    sessions.breakdown(now, function(why, breakdown)
      shown.breakdown, shown.problem = breakdown, why
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

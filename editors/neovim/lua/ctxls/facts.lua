-- The facts about a session, in the same words as in other editors.
local text = require('ctxls.text')

local M = {}

local provenances = {
  host = 'from the host’s status line',
  transcript = 'from the transcript',
  reported = 'reported by the host',
  estimate = 'estimated',
}

local window_provenances = {
  host = 'the host says so',
  config = 'your settings',
  suffix = 'the model’s name',
  learned = 'learned from requests',
  table = 'built-in table',
  default = 'assumed: the model is not known',
}

local categories = {
  system = 'system prompt and tools',
  unaccounted = 'not accounted for',
  memory = 'memory files',
  summary = 'summary of what was compacted',
  injected = 'added by the host',
  user = 'you',
  assistant = 'answers',
  thinking = 'thinking',
  calls = 'tool calls',
  toolResult = 'results',
  image = 'images and documents',
}

---Names a part of a window for people.
---@param part ctxls.Part
---@return string
function M.part(part)
  if part.category == 'toolResult' and part.tool and part.tool ~= '' then
    return 'results of ' .. text.line(part.tool, 40)
  end
  return categories[part.category] or text.line(part.category)
end

---@param s ctxls.Session
local function model(s)
  local via = vim.tbl_filter(function(word)
    return word ~= ''
  end, { text.line(s.provider), text.line(s.host) })
  local name = text.line(s.model)
  return (name ~= '' and name or text.unknown) .. (#via > 0 and (' (%s)'):format(table.concat(via, ', ')) or '')
end

---@param u ctxls.Usage
local function window(u)
  local why = text.line(u.windowWhy, 100)
  return ('%s tokens: %s'):format(
    text.exactly(u.windowTokens),
    why ~= '' and why or window_provenances[u.windowProvenance] or text.unknown
  )
end

---@param u ctxls.Usage
local function band(u)
  return u.band and (' (%s–%s)'):format(text.tokens(u.band.low), text.tokens(u.band.high)) or ''
end

---@param u ctxls.Usage
local function held(u)
  if not u.tokens then
    return text.unknown
  end
  local all = text.mark(u) .. text.exactly(u.tokens)
  if u.percent then
    all = all .. (', %.1f%% of the window'):format(u.percent)
  end
  if u.provenance == 'estimate' then
    return all .. band(u)
  elseif u.projectedTokens and text.tokens(u.projectedTokens) ~= text.tokens(u.tokens) then
    return all .. '; by now about ' .. text.tokens(u.projectedTokens) .. band(u)
  end
  return all
end

---@param s ctxls.Session
local function compaction(s)
  local u, parts = s.usage, {}
  if s.compacting then
    parts[#parts + 1] = 'compacting now'
  end
  local when = {
    threshold = 'at ' .. (u.compactionTokens and text.exactly(u.compactionTokens) or text.unknown),
    onRefusal = 'when a request is refused',
    off = 'off',
  }
  local left = text.left(u, text.exactly)
  parts[#parts + 1] = ('%s, %s left'):format(when[u.compactionRule] or 'not known', left ~= '' and left or text.unknown)
  if s.compactions > 0 then
    parts[#parts + 1] = s.compactions .. ' so far'
  end
  return table.concat(parts, '; ')
end

---@param u ctxls.Usage
local function growth(u)
  if not u.growthPerTurn then
    return text.unknown .. ' (known after the first turn)'
  end
  local turns = u.turnsToCompaction
  local left = turns
    and ('; about %d %s left (%d–%d)'):format(turns.mid, text.turns(turns.mid), turns.low, turns.high)
  return text.tokens(u.growthPerTurn) .. ' a turn' .. (left or '')
end

---@param s ctxls.Session
---@param now number
local function as_of(s, now)
  local u = s.usage
  local idle = s.state == 'idle' and '; idle' or ''
  if not u.asOf or not u.provenance then
    return ('%s; last heard of %s%s'):format(text.unknown, text.age(s.updatedAt, now), idle)
  end
  local behind = u.stale and '; a newer response was missed' or ''
  return ('%s, %s%s%s'):format(text.age(u.asOf, now), provenances[u.provenance] or u.provenance, behind, idle)
end

---Lists what is known: label and value.
---@param s ctxls.Session
---@param now number seconds since 1970
---@return [string, string][]
function M.of(s, now)
  return {
    { 'Model', model(s) },
    { 'Window', window(s.usage) },
    { 'Tokens', held(s.usage) },
    { 'Compaction', compaction(s) },
    { 'Growth', growth(s.usage) },
    { 'As of', as_of(s, now) },
  }
end

return M

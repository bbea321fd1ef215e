-- How figures are written for people. No figure is computed here: the server does that.
local M = {}

---Stands where a figure is not known. It is never a zero.
M.unknown = '?'

---Writes a number of tokens: 812, 9.4k, 144k, 1.05M; as the command line does.
---@param n? number
---@return string
function M.tokens(n)
  if not n then
    return M.unknown
  elseif n < 1000 then
    return ('%d'):format(n)
  elseif n < 9950 then
    return ('%.1fk'):format(n / 1000)
  elseif n < 999500 then
    return ('%dk'):format(math.floor(n / 1000 + 0.5))
  end
  return (('%.2f'):format(n / 1e6):gsub('0+$', ''):gsub('%.$', '')) .. 'M'
end

---Writes a number of tokens to the last digit: 143,912.
---@param n number
---@return string
function M.exactly(n)
  local digits = ('%d'):format(n)
  local head = (#digits - 1) % 3 + 1
  return digits:sub(1, head) .. digits:sub(head + 1):gsub('%d%d%d', ',%0')
end

---Writes a part of a whole in percent, as the command line does.
---@param part number
---@param whole number
---@return string
function M.share_of(part, whole)
  local percent = 100 * part / whole
  return percent > 0 and percent < 0.5 and '<1%' or ('%.0f%%'):format(percent)
end

---"~" for what ctxls worked out itself.
---@param u ctxls.Usage
---@return string
function M.mark(u)
  return u.provenance == 'estimate' and '~' or ''
end

---Writes the share of the window: "~" before an estimate, "+" after a figure that is a response behind.
---@param u ctxls.Usage
---@return string
function M.percent(u)
  local percent = u.display.percent
  return percent and ('%s%d%%%s'):format(M.mark(u), percent, u.stale and '+' or '') or M.unknown
end

---Writes what is left until the host compacts, or until a request is refused; "" where that is not known.
---@param u ctxls.Usage
---@param write? fun(n: number): string
---@return string
function M.left(u, write)
  local n = u.toCompaction or u.toRefusal
  if not n then
    return ''
  end
  local estimated = u.provenance == 'estimate' or (u.projectedTokens and u.projectedTokens ~= u.tokens)
  return (estimated and '~' or '') .. (write or M.tokens)(n)
end

---Writes the same for people, with what comes when nothing is left.
---@param u ctxls.Usage
---@param write? fun(n: number): string
---@return string
function M.left_in_words(u, write)
  local n = M.left(u, write)
  local after = {
    threshold = '%s tokens to compaction',
    onRefusal = '%s tokens left, compacts when refused',
    off = '%s tokens left, no auto-compaction',
  }
  return (after[u.compactionRule] or '%s tokens left'):format(n ~= '' and n or M.unknown)
end

---Draws a share, in percent, in the given number of cells.
---@param percent? number
---@param cells integer
---@param mark? number a place in the bar, 0–1, to mark
---@return string
function M.bar(percent, cells, mark)
  local full = percent and math.min(math.floor((percent * cells + 50) / 100), cells) or 0
  local drawn = {}
  for i = 1, cells do
    drawn[i] = not percent and '·' or i <= full and '█' or '░'
  end
  if mark and mark < 1 then
    drawn[math.min(math.floor(mark * cells), cells - 1) + 1] = '│'
  end
  return table.concat(drawn)
end

---Draws how full a window is, with a mark where the host compacts.
---@param u ctxls.Usage
---@param cells integer
---@return string
function M.gauge(u, cells)
  return M.bar(u.display.percent, cells, u.compactionTokens and u.compactionTokens / u.display.limitTokens)
end

---Cuts a text that has more characters than the limit in its middle: the end of a path names the file.
---@param text string
---@param limit integer
---@return string
function M.middle(text, limit)
  local count = vim.fn.strchars(text)
  if count <= limit then
    return text
  end
  local head = math.max(math.floor((limit - 1) / 3), 0)
  return vim.fn.strcharpart(text, 0, head) .. '…' .. vim.fn.strcharpart(text, count - (limit - 1 - head))
end

---Writes a text in a width: padded with spaces, or cut in the middle.
---@param text string
---@param width integer cells
---@return string
function M.fit(text, width)
  local limit = width
  local cut = M.middle(text, limit)
  while limit > 1 and vim.api.nvim_strwidth(cut) > width do -- some characters are two cells wide
    limit = limit - 1
    cut = M.middle(text, limit)
  end
  return cut .. (' '):rep(width - vim.api.nvim_strwidth(cut))
end

---Breaks a text at its spaces into lines of a width. A word that is longer is cut in its middle.
---@param text string
---@param width integer
---@return string[]
function M.wrap(text, width)
  local lines = { '' }
  for word in text:gmatch('%S+') do
    word = M.middle(word, math.max(width, 1))
    local last = lines[#lines]
    if last == '' then
      lines[#lines] = word
    elseif vim.api.nvim_strwidth(last .. ' ' .. word) <= width then
      lines[#lines] = last .. ' ' .. word
    else
      lines[#lines + 1] = word
    end
  end
  return lines
end

---The sign of a session's level, or of a compaction that runs; "" where neither says more than the figures.
---@param s ctxls.Session
---@param icons ctxls.Icons
---@return string
local function level_sign(s, icons)
  return s.compacting and icons.compacting or s.usage.level and icons[s.usage.level] or ''
end

---Reads a time (RFC 3339) as seconds since 1970.
---@param at string
---@return number
function M.time(at)
  local year, month, day, hour, minute, second, zone = at:match('^(%d+)-(%d+)-(%d+)[Tt](%d+):(%d+):([%d.]+)(.*)$')
  if not year then
    return 0
  end
  -- Days since 1970 by counting years from March on, so that a leap day comes last.
  local y, m = tonumber(year), tonumber(month)
  if m <= 2 then
    y, m = y - 1, m + 12
  end
  local days = 365 * y + math.floor(y / 4) - math.floor(y / 100) + math.floor(y / 400)
  days = days + math.floor((153 * (m - 3) + 2) / 5) + tonumber(day) - 719469
  local sign, hours, minutes = zone:match('^([+-])(%d%d):(%d%d)$')
  local offset = sign and (sign == '-' and -1 or 1) * (tonumber(hours) * 60 + tonumber(minutes)) or 0
  return ((days * 24 + tonumber(hour)) * 60 + tonumber(minute) - offset) * 60 + tonumber(second)
end

---Writes how long ago a time (RFC 3339) was.
---@param at string
---@param now integer seconds since 1970, as os.time() gives them, without fractions
---@return string
function M.age(at, now)
  local minutes = math.floor((now - math.floor(M.time(at))) / 60)
  if minutes < 1 then
    return 'just now'
  elseif minutes < 60 then
    return ('%d min ago'):format(minutes)
  elseif minutes < 48 * 60 then
    return ('%d h ago'):format(math.floor(minutes / 60))
  end
  return ('%d days ago'):format(math.floor(minutes / (24 * 60)))
end

---Ranges of code points that act on a terminal or hide in it: controls, spaces of all kinds, invisible marks, marks that change
---the direction of writing, tags.
local unseen = {
  { 0x00, 0x20 },
  { 0x7f, 0xa0 },
  { 0xad, 0xad },
  { 0x61c, 0x61c },
  { 0x1680, 0x1680 },
  { 0x180e, 0x180e },
  { 0x2000, 0x200f },
  { 0x2028, 0x202f },
  { 0x205f, 0x206f },
  { 0x3000, 0x3000 },
  { 0xd800, 0xf8ff },
  { 0xfeff, 0xfeff },
  { 0xfff0, 0xfffb },
  { 0xe0000, 0x10ffff },
}

local function is_unseen(code)
  for _, range in ipairs(unseen) do
    if code >= range[1] and code <= range[2] then
      return true
    end
  end
  return false
end

---Makes one line, at most so many characters long, of text from outside.
---@param text? string
---@param limit? integer
---@return string
function M.line(text, limit)
  limit = limit or 60
  local seen = {}
  for i, char in ipairs(vim.fn.split((text or ''):gsub('%z', ' '), '\\zs')) do
    local code = vim.fn.char2nr(char)
    -- A byte that begins no character of UTF-8 stands for itself.
    local bad = is_unseen(code) or (#char == 1 and char:byte() > 0x7f)
    seen[i] = bad and ' ' or char
  end
  local one = vim.trim((table.concat(seen):gsub(' +', ' ')))
  if vim.fn.strchars(one) > limit then
    return vim.trim(vim.fn.strcharpart(one, 0, limit - 1)) .. '…'
  end
  return one
end

---Names a session for people: by its title, else by the last part of its directory, else by its id.
---@param s ctxls.Session
---@return string
function M.name(s)
  if s.title ~= '' then
    return M.line(s.title)
  end
  return M.line(s.cwd:match('([^/\\]+)[/\\]*$') or s.sessionId:sub(1, 8))
end

---"turn" or "turns".
---@param n integer
---@return string
function M.turns(n)
  return n == 1 and 'turn' or 'turns'
end

---Says what is left and until when, as short as a statusline wants it; "" where that is not known.
---@param u ctxls.Usage
---@return string
local function until_when(u)
  local left = M.left(u)
  return left == '' and '' or left .. (u.compactionRule == 'threshold' and ' to compaction' or ' left')
end

---What placeholders of a format stand for; "" where it does not apply.
---@param s ctxls.Session
---@param icons ctxls.Icons
---@return table<string, string>
local function values(s, icons)
  local u = s.usage
  local some = function(n)
    return n > 0 and tostring(n) or ''
  end
  return {
    icon = level_sign(s, icons) ~= '' and level_sign(s, icons) or icons.session,
    percent = M.percent(u),
    tokens = u.display.tokens and M.mark(u) .. M.tokens(u.display.tokens) or '',
    window = M.tokens(u.display.limitTokens),
    left = M.left(u),
    ['until'] = until_when(u),
    forecast = u.turnsToCompaction and ('~%d %s'):format(u.turnsToCompaction.mid, M.turns(u.turnsToCompaction.mid))
      or '',
    bar = M.gauge(u, 8),
    level = u.level or M.unknown,
    model = M.line(s.model),
    host = M.line(s.host),
    title = M.name(s),
    agents = some(#s.agents),
    compactions = some(s.compactions),
  }
end

---Cuts a format at " · " and " | ".
---@return {text: string, separator: string}[]
local function pieces(format)
  local all, from, separator = {}, 1, ''
  while true do
    local dot, bar = format:find(' · ', from, true), format:find(' | ', from, true)
    local to = dot and bar and math.min(dot, bar) or dot or bar
    all[#all + 1] = { text = format:sub(from, (to or 0) - 1), separator = separator }
    if not to then
      return all
    end
    separator = to == dot and ' · ' or ' | '
    from = to + #separator
  end
end

---Fills a format of the gauge. Parts, set off by " · " or " | ", are left out when they have placeholders and none of them
---applies; the first part always stays, so that an unknown share is shown as "?". From the level "warning" on its sign stands
---before a format that has no {icon}.
---@param format string
---@param s ctxls.Session
---@param icons ctxls.Icons
---@return string
function M.fill(format, s, icons)
  local known = values(s, icons)
  local filled = {}
  for i, piece in ipairs(pieces(format)) do
    local placeholders, applies = 0, false
    local text = piece.text:gsub('{(%l+)}', function(name)
      local value = known[name]
      if value then
        placeholders = placeholders + 1
        applies = applies or value ~= ''
        return value ~= '' and value or M.unknown
      end
    end)
    if i == 1 or placeholders == 0 or applies then
      filled[#filled + 1] = (#filled > 0 and piece.separator or '') .. text
    end
  end
  local text = table.concat(filled)
  local mark = level_sign(s, icons)
  if text ~= '' and mark ~= '' and not format:find('{icon}', 1, true) then
    text = mark .. ' ' .. text
  end
  return text
end

return M

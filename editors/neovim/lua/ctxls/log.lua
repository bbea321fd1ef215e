-- What happened lately: the plugin's own words and what the server said on its standard error. Kept in memory.
local M = {}

---So many lines are kept.
local most = 1000

---@type string[]
local lines = {}

---Notes what happened, at a level like "INFO". May be called anywhere, also in callbacks of libuv.
---@param level string
---@param message string
function M.add(level, message)
  for line in vim.gsplit(message, '\n', { trimempty = true }) do
    lines[#lines + 1] = ('%s %-5s %s'):format(os.date('%H:%M:%S'), level, line)
  end
  if #lines > 2 * most then
    lines = vim.list_slice(lines, #lines - most + 1)
  end
end

---The last lines that the server said since it was started.
---@type string[]
local words = {}

---The longest line that is kept, in bytes.
local longest = 1000

---Notes a line of the server's standard error, at the level that it says. May be called anywhere.
---@param line string
function M.said(line)
  line = line:sub(1, longest):gsub('%c', ' ') -- whatever the program is
  words[#words + 1] = line
  if #words > 10 then
    table.remove(words, 1)
  end
  M.add(line:match('%f[%w]level=(%u+)') or 'INFO', (line:gsub('^time=%S+ ', '')))
end

---What the server said last for people, or else at all.
---@return string?
function M.last_word()
  for i = #words, 1, -1 do
    local word = words[i]:match('^ctxls: (.*)')
    if word then
      return word
    end
  end
  return words[#words]
end

---Forgets what another server said.
function M.listen()
  words = {}
end

---@return string[]
function M.lines()
  return vim.list_slice(lines, math.max(1, #lines - most + 1))
end

return M

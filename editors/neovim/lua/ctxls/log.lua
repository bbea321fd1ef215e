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

---@return string[]
function M.lines()
  return vim.list_slice(lines, math.max(1, #lines - most + 1))
end

return M

-- The options: what they are, and whether they are right.
local M = {}

---@class ctxls.Options
---@field path? string the ctxls program: an absolute path, "~/…", or "" for the one on the PATH
---@field sessions? 'workspace'|'all' which sessions are shown: those of the working directory's project, or all
---@field root_markers? string[] what a project's directory holds; without one it is the working directory itself
---@field format? string what the gauge shows; see :help ctxls-format
---@field quiet? string what it shows when no session is active
---@field icons? ctxls.Icons
---@field notify? ctxls.Notify
---@field border? string|string[] of floating windows, as in nvim_open_win()
---@field config? table settings of ctxls that a workspace may set, as in .ctxls.json

---@class ctxls.Icons
---@field session? string {icon} of a session with room
---@field compacting? string the same while the host compacts
---@field warning? string the sign of the level "warning"
---@field critical? string the sign of the level "critical"
---@field failed? string set before "ctxls" when there is no server

---@class ctxls.Notify
---@field critical? boolean tell once when sessions become critically full
---@field fleet? boolean tell when too many of the recent tasks were too large

---@type ctxls.Options
M.defaults = {
  path = '',
  sessions = 'workspace',
  root_markers = { '.git' },
  format = '{percent} · {until}',
  quiet = '',
  icons = { session = '◔', warning = '!', critical = '!!', compacting = '↻', failed = '⚠' },
  notify = { critical = true, fleet = false },
  border = 'rounded',
  config = {},
}

---The options in force.
---@type ctxls.Options
M.options = vim.deepcopy(M.defaults)

local sessions = { workspace = true, all = true }

---What nvim_open_win() takes for a border.
local borders = { 'none', 'single', 'double', 'rounded', 'solid', 'shadow', 'bold' }
local border_sizes = { 1, 2, 4, 8 }

---What is wrong with a value beyond its type: what is allowed, nil where it is right.
local checks = {
  sessions = function(value)
    return not sessions[value] and '"workspace" or "all"' or nil
  end,
  root_markers = function(value)
    for _, marker in ipairs(value) do
      if type(marker) ~= 'string' then
        return 'a list of strings'
      end
    end
    return not vim.islist(value) and 'a list of strings' or nil
  end,
  border = function(value)
    local fits = type(value) == 'string' and (value == '' or vim.list_contains(borders, value))
      or type(value) == 'table' and vim.islist(value) and vim.list_contains(border_sizes, #value)
    return not fits and ('"%s", or a list of 1, 2, 4 or 8'):format(table.concat(borders, '", "')) or nil
  end,
}

local function types(name, default)
  return name == 'border' and { string = true, table = true } or { [type(default)] = true }
end

---@return string? problem
local function check(name, value, default)
  local allowed = types(name, default)
  if not allowed[type(value)] then
    local names = vim.tbl_keys(allowed)
    table.sort(names)
    return ('%s: expected a %s, got a %s'):format(name, table.concat(names, ' or '), type(value))
  end
  local wanted = checks[name] and checks[name](value)
  if wanted then
    return ('%s: expected %s, got %s'):format(name, wanted, vim.inspect(value, { newline = ' ', indent = '' }))
  end
end

---@return string? problem
local function check_all(prefix, given, defaults)
  local known = vim.tbl_keys(defaults)
  table.sort(known)
  for name, value in pairs(given) do
    if defaults[name] == nil then
      return ('%s%s: there is no such option; there are %s'):format(prefix, tostring(name), table.concat(known, ', '))
    end
    local problem = check(name, value, defaults[name])
    if not problem and (name == 'icons' or name == 'notify') then
      problem = check_all(name .. '.', value, defaults[name])
    end
    if problem then
      return problem:find(prefix, 1, true) == 1 and problem or prefix .. problem
    end
  end
end

---@param given? ctxls.Options
function M.set(given)
  given = given or {}
  local problem = type(given) ~= 'table' and 'expected a table, got a ' .. type(given)
    or check_all('', given, M.defaults)
  if problem then
    error('ctxls: setup: ' .. problem, 0)
  end
  M.options = vim.tbl_deep_extend('force', M.defaults, given)
  M.options.root_markers = given.root_markers or M.defaults.root_markers
  M.options.border = given.border or M.defaults.border
end

return M

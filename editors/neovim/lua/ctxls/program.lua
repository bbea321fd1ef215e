-- Which program is the server.
local M = {}

local windows = vim.fn.has('win32') == 1
local executable = windows and 'ctxls.exe' or 'ctxls'

local function may_run(path)
  local stat = vim.uv.fs_stat(path)
  return stat ~= nil and stat.type == 'file' and vim.uv.fs_access(path, 'X') == true
end

local function is_absolute(path)
  return path:sub(1, 1) == '/' or (windows and (path:match('^%a:[/\\]') or path:match('^\\\\')) ~= nil)
end

---@param given string
---@return string? path, string? why
local function named(given)
  local path = given:match('^~[/\\]') and vim.uv.os_homedir() .. given:sub(2) or given
  if not is_absolute(path) then
    return nil, ('the option path wants an absolute path, and is "%s"'):format(given)
  end
  local stat = vim.uv.fs_stat(path)
  if not stat then
    return nil, ('the option path names %s, and there is no such file'):format(path)
  elseif stat.type ~= 'file' then
    return nil, ('the option path names %s, which is not a file'):format(path)
  elseif not may_run(path) then
    return nil, path .. ' may not be executed'
  end
  return path
end

---Finds the server: the one that the options name, else the one on the PATH. What the options name is not replaced by
---another where it cannot be used.
---@return string? path absolute
---@return string? why there is none, for people
function M.find()
  local given = vim.trim(require('ctxls.config').options.path)
  if given ~= '' then
    return named(given)
  end
  for _, dir in ipairs(vim.split(vim.env.PATH or '', windows and ';' or ':')) do
    local path = dir .. '/' .. executable
    -- A relative directory would be the workspace's.
    if is_absolute(dir) and may_run(path) then
      return path
    end
  end
  return nil, 'there is no ctxls on the PATH'
end

---How long a command may take, in milliseconds.
local patience = 30 * 1000

---Runs ctxls in the working directory.
---@param args string[]
---@param done fun(why: string?, out: string?) called later, with what it printed
function M.run(args, done)
  local path, why = M.find()
  if not path then
    done(why)
    return
  end
  local command = vim.list_extend({ path }, args)
  local started, problem = pcall(vim.system, command, { text = true, timeout = patience }, function(result)
    vim.schedule(function()
      if result.code == 0 then
        done(nil, result.stdout)
        return
      end
      local said = vim.trim(result.stderr):gsub('^ctxls: ', '')
      done(said ~= '' and said or ('%s ended with status %d'):format(table.concat(command, ' '), result.code))
    end)
  end)
  if not started then
    done(('%s could not be run: %s'):format(path, tostring(problem):gsub('^.-%.lua:%d+: ', '')))
  end
end

return M

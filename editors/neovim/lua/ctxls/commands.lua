-- :Ctxls and what can follow it.
local M = {}

---@class ctxls.Command
---@field run fun(words: string[], call: table)
---@field complete? fun(words: string[]): string[]

---Completes the key of a session, after nothing else.
---@param words string[]
---@return string[]
local function keys(words)
  local sessions = require('ctxls.sessions')
  return #words == 1 and vim.tbl_map(sessions.key, sessions.list()) or {}
end

---@type table<string, ctxls.Command>
local commands = {
  sessions = {
    run = function()
      require('ctxls.picker').open()
    end,
  },
  pin = {
    run = function(words)
      require('ctxls.picker').pin(words[1])
    end,
    complete = keys,
  },
  unpin = {
    run = function()
      require('ctxls.sessions').pin(nil)
    end,
  },
  quickfix = {
    run = function(words)
      require('ctxls.files').quickfix(words[1])
    end,
    complete = keys,
  },
  show = {
    run = function(words)
      require('ctxls.show').open(words[1])
    end,
    complete = keys,
  },
  measure = {
    run = function(_, call)
      local ranged = call.range > 0
      require('ctxls.measure').run(ranged and call.line1 or nil, ranged and call.line2 or nil)
    end,
  },
  report = {
    run = function()
      local notices = require('ctxls.notices')
      local width = tostring(vim.o.columns - 8)
      require('ctxls.program').run({ 'report', '--width', width }, function(why, out)
        if why then
          notices.say(why, vim.log.levels.ERROR)
          return
        end
        local lines = vim.split(out, '\n', { trimempty = true })
        require('ctxls.window').float(
          'All tasks',
          vim.tbl_map(function(line)
            return { { ' ' .. line } }
          end, lines)
        )
      end)
    end,
  },
  setup = {
    run = function()
      local path, why = require('ctxls.program').find()
      if not path then
        require('ctxls.notices').say(why, vim.log.levels.ERROR)
        return
      end
      vim.cmd('botright new')
      vim.fn.termopen({ path, 'setup' })
      vim.cmd('startinsert')
    end,
  },
  install = {
    run = function(words)
      require('ctxls.install').run(words)
    end,
    complete = function(words)
      return require('ctxls.install').complete(words)
    end,
  },
  log = {
    run = function()
      local lines = require('ctxls.log').lines()
      require('ctxls.window').split('ctxls-log', #lines > 0 and lines or { 'Nothing happened yet.' })
      vim.cmd('normal! G')
    end,
  },
  restart = {
    run = function()
      require('ctxls.server').restart()
    end,
  },
}

local function names()
  local all = vim.tbl_keys(commands)
  table.sort(all)
  return all
end

---Runs the command, with what nvim_create_user_command() hands over.
---@param call table
function M.run(call)
  require('ctxls.status')
  local words = vim.list_slice(call.fargs, 2)
  local name = call.fargs[1] or 'show'
  local command = commands[name]
  if not command then
    vim.notify(
      ('ctxls: there is no ":Ctxls %s"; there are %s'):format(name, table.concat(names(), ', ')),
      vim.log.levels.ERROR
    )
    return
  end
  command.run(words, call)
end

---Completes the last word of the command line.
---@param lead string
---@param line string
---@return string[]
function M.complete(lead, line)
  local words = vim.split(line:gsub('^.-Ctxls!?%s+', ''), '%s+')
  local all
  if #words < 2 then
    all = names()
  else
    local command = commands[words[1]]
    all = command and command.complete and command.complete(vim.list_slice(words, 2)) or {}
  end
  return vim.tbl_filter(function(word)
    return vim.startswith(word, lead)
  end, all)
end

return M

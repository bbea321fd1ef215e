-- An editor without a screen, driven over its own RPC. Whatever it calls that is deprecated, and every message, is kept.
local expect = require('lib.expect')
local machines = require('lib.machine')

local M = {}
local Editor = {}
Editor.__index = Editor

M.program = assert(vim.env.NVIM_UNDER_TEST, 'NVIM_UNDER_TEST names the editor')

---Runs in the editor before the plugin is there.
local before = [[
_G.seen = { deprecated = {}, messages = {}, updates = {} }
vim.deprecate = function(name) table.insert(_G.seen.deprecated, name .. '\n' .. debug.traceback()) end
vim.notify = function(message, level) table.insert(_G.seen.messages, { message, level }) end
vim.api.nvim_create_autocmd('User', { pattern = 'CtxlsUpdate', callback = function(event)
  table.insert(_G.seen.updates, event.data or {})
end })
vim.opt.runtimepath:prepend(...)
vim.cmd.runtime('plugin/ctxls.lua')
]]

---Starts one on a machine, in the project's directory. Everything that is deprecated is a failure of the test.
function M.start(machine, options)
  local self = setmetatable({ machine = machine }, Editor)
  self.channel = vim.fn.jobstart({ M.program, '--clean', '-n', '--embed', '--headless' }, {
    rpc = true,
    env = machine.env,
    clear_env = true,
    cwd = options and options.cwd or machine.project,
    on_exit = function(_, code)
      self.code = code
    end,
  })
  assert(self.channel > 0, M.program .. ' does not start')
  self.pid = vim.fn.jobpid(self.channel)
  cleanup(function()
    if not self.code then
      local deprecated = self:lua('return _G.seen.deprecated')
      pcall(vim.rpcnotify, self.channel, 'nvim_command', 'qa!')
      expect.eventually(function()
        return self.code ~= nil
      end)
      expect.same(deprecated, {}, 'deprecated calls')
    end
    expect.eventually(function()
      return machine:servers()
    end, {}, 'the end of every server')
  end)
  self:lua(before, machines.plugin)
  return self
end

---Runs Lua in the editor and returns what it returns.
function Editor:lua(code, ...)
  return vim.rpcrequest(self.channel, 'nvim_exec_lua', code, { ... })
end

---Sets the plugin up; what is not given is as it is by default.
function Editor:setup(options)
  self:lua("require('ctxls').setup(...)", options or vim.empty_dict())
end

---Starts the server, as the first drawing of a statusline does, and waits for it.
function Editor:running()
  self:status()
  self:becomes('running')
end

function Editor:becomes(kind)
  expect.eventually(function()
    return self:state().kind
  end, kind, 'the server')
end

function Editor:state()
  return self:lua("return require('ctxls.server').state()")
end

function Editor:status()
  return self:lua("return require('ctxls').status()")
end

function Editor:shows(want)
  expect.eventually(function()
    return self:status()
  end, want, 'status()')
end

---Runs an Ex command.
function Editor:command(command)
  vim.rpcrequest(self.channel, 'nvim_command', command)
end

---What was said with vim.notify so far, as one text.
function Editor:messages()
  return self:lua([[return table.concat(vim.tbl_map(function(m) return m[1] end, _G.seen.messages), '\n')]])
end

---Waits for a message that holds the text, and returns all.
function Editor:says(text)
  expect.eventually(function()
    return self:messages():find(text, 1, true)
  end, nil, ('the message "%s", not among "%s"'):format(text, self:messages()))
  return self:messages()
end

---Answers vim.ui.select with the items whose labels hold these texts, one after another. What was offered is kept in
---seen.offered.
function Editor:choose(...)
  self:lua(
    [[
    local answers = { ... }
    _G.seen.offered = {}
    vim.ui.select = function(items, opts, on_choice)
      local labels, found = {}, nil
      local answer = table.remove(answers, 1)
      for i, item in ipairs(items) do
        labels[i] = (opts.format_item or tostring)(item)
        if answer and labels[i]:find(answer, 1, true) then found = i end
      end
      table.insert(_G.seen.offered, labels)
      vim.schedule(function() on_choice(found and items[found], found) end)
    end]],
    ...
  )
end

---The text of the floating window, "" without one.
function Editor:float()
  return self:lua([[
    for _, win in ipairs(vim.api.nvim_list_wins()) do
      if vim.api.nvim_win_get_config(win).relative ~= '' then
        return table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(win), 0, -1, false), '\n')
      end
    end
    return '']])
end

return M

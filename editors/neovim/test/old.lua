-- A Neovim that is too old: it is said, clearly, and nothing breaks. NVIM_TOO_OLD names one.
local expect = require('lib.expect')
local machines = require('lib.machine')

local program = assert(vim.env.NVIM_TOO_OLD, 'NVIM_TOO_OLD names a Neovim before 0.10')

local function run(...)
  local machine = machines.new()
  local path = ("let &rtp = %s . ',' . &rtp"):format(vim.fn.string(machines.plugin)) -- a blank in it would end a set
  local command = { program, '--headless', '-n', '-i', 'NONE', '-u', 'NORC', '--cmd', path }
  for _, ex in ipairs({ ... }) do
    vim.list_extend(command, { '-c', ex })
  end
  vim.list_extend(command, { '-c', 'qa!' })
  local result = vim.system(command, { env = machine.env, clear_env = true, cwd = machine.project }):wait(expect.soon)
  expect.same(machine:servers(), {}, 'processes')
  return result.stderr .. result.stdout
end

local why = 'ctxls needs Neovim 0.10 or newer, and this is 0.'

return {
  {
    'starting says nothing, using it says why not',
    function()
      expect.same(run(), '', 'what is said at the start')
      expect.holds(run('Ctxls show'), why)
      expect.holds(run("lua require('ctxls').setup{}"), why)
      expect.lacks(run('Ctxls show', "lua require('ctxls').setup{}"), 'E5108', 'traceback')
    end,
  },
  {
    'a statusline that calls it stays empty',
    function()
      local said = run(
        [[lua local c = require('ctxls'); io.write('<' .. c.status() .. c.statusline() .. c.highlight() .. #c.sessions() .. '>')]]
      )
      expect.same(said, '<0>', 'what is shown')
    end,
  },
  {
    ':checkhealth says it, too',
    function()
      expect.holds(
        run('checkhealth ctxls', [[lua io.write(table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n'))]]),
        why
      )
    end,
  },
}

-- What the plugin costs: figures for `make bench`, which runs this. Each is the best of several.
local editors = require('lib.editor')
local machines = require('lib.machine')

local repetitions = 20

return {
  {
    'the start of Neovim with the plugin as a package',
    function()
      local machine = machines.new()
      local site = machine.home .. '/.local/share/nvim/site/pack/ctxls/start'
      vim.fn.mkdir(site, 'p')
      assert(vim.uv.fs_symlink(machines.plugin, site .. '/ctxls'))
      local best
      for i = 1, repetitions do
        local log = ('%s/start-%d.log'):format(machine.home, i)
        local command = { editors.program, '--headless', '-n', '-i', 'NONE', '--startuptime', log, '-c', 'qa!' }
        vim.system(command, { env = machine.env, clear_env = true, cwd = machine.project }):wait()
        for line in io.lines(log) do
          -- "clock  self+sourced  self: sourcing FILE"
          local took = line:match('^%S+%s+%S+%s+(%S+): sourcing .*/ctxls/plugin/ctxls.lua')
          best = took and math.min(best or math.huge, tonumber(took)) or best
        end
      end
      assert(best, 'the plugin was not loaded')
      io.write(('figure start-ms %.3f\n'):format(best))
    end,
  },
}

-- The help and the README tell what there is.
local editors = require('lib.editor')
local expect = require('lib.expect')
local machines = require('lib.machine')

local function read(path)
  return table.concat(vim.fn.readfile(machines.plugin .. '/' .. path), '\n')
end

return {
  {
    'help has a tag for everything, and all of its links lead somewhere',
    function()
      local machine = machines.new()
      vim.fn.mkdir(machine.home .. '/doc')
      assert(vim.uv.fs_copyfile(machines.plugin .. '/doc/ctxls.txt', machine.home .. '/doc/ctxls.txt'))
      local editor = editors.start(machine)
      editor:command('helptags ' .. machine.home .. '/doc')
      editor:command('set runtimepath^=' .. machine.home)
      local help = read('doc/ctxls.txt')
      for link in help:gmatch('|(%S+)|') do
        editor:command('help ' .. link)
      end
      for line in vim.gsplit(help, '\n') do
        assert(vim.fn.strdisplaywidth(line) <= 79, 'too wide: ' .. line)
      end
    end,
  },
  {
    'help knows every option, its default, every function, command, group and placeholder',
    function()
      local machine = machines.new()
      local editor = editors.start(machine)
      local help = read('doc/ctxls.txt')
      local shown = help:match("with their defaults: >lua\n%s+require%('ctxls'%)%.setup%((.-)%)\n<")
      expect.same(
        editor:lua('return loadstring("return " .. ...)()', shown),
        editor:lua("return require('ctxls.config').defaults"),
        'the defaults in the help'
      )
      for _, name in ipairs(editor:lua("return vim.tbl_keys(require('ctxls'))")) do
        expect.holds(help, '\n' .. name .. '(')
      end
      for _, name in ipairs(editor:lua("return vim.fn.getcompletion('Ctxls ', 'cmdline')")) do
        expect.holds(help, 'Ctxls ' .. (name == 'show' and '[show]' or name))
      end
      local source = read('lua/ctxls/status.lua') .. read('lua/ctxls/colours.lua') .. read('lua/ctxls/text.lua')
      for group in (source:gsub('CtxlsBar', '')):gmatch('Ctxls%u%l+%f[^%a]') do
        expect.holds(
          help,
          vim.list_contains({ 'CtxlsUpdate', 'CtxlsChanged' }, group) and ('*%s*'):format(group) or '\n' .. group .. ' '
        )
      end
      for placeholder in source:match('return {\n%s+icon = .-\n  }'):gmatch('\n    (%l+) =') do
        expect.holds(help, '{' .. placeholder .. '}')
      end
    end,
  },
  {
    'the README shows the same defaults, and its ways to install work',
    function()
      local machine = machines.new()
      local readme = read('README.md')
      local site = machine.home .. '/.local/share/nvim/site/pack/ctxls/start'
      vim.fn.mkdir(site, 'p')
      assert(vim.uv.fs_symlink(machines.plugin, site .. '/ctxls'))
      local function said(init)
        local file = machine.home .. '/init.lua'
        vim.fn.writefile(vim.split(init, '\n'), file)
        local command =
          { editors.program, '--headless', '-n', '-i', 'NONE', '-u', file, '-c', 'echo exists(":Ctxls")', '-c', 'qa!' }
        local result =
          vim.system(command, { env = machine.env, clear_env = true, cwd = machine.project }):wait(expect.soon)
        return result.stdout .. result.stderr
      end
      expect.same(said("require('ctxls').setup({})"), '2', 'as a package')
      assert(vim.uv.fs_unlink(site .. '/ctxls'))
      expect.same(said(''), '0', 'without the plugin')
      -- What lazy.nvim does with a spec.
      local spec = readme:match('```lua\n({.-\n})\n```')
      local lazy = ("local spec = %s\nspec.config({ dir = '%s' })"):format(spec, machines.repo)
      expect.same(said(lazy), '2', 'with lazy.nvim')
      -- What vim-plug does with a line: the directory "rtp" of the checkout goes onto the runtimepath.
      local plug = readme:match('```vim\n(Plug .-)\n```')
      expect.holds(
        table.concat(vim.fn.readfile(machines.repo .. '/docs/getting-started/neovim.md'), '\n'),
        '\n       ' .. plug .. '\n'
      )
      local stand_in = [[
        vim.api.nvim_create_user_command('Plug', function(call)
          local repo, options = unpack(vim.fn.eval('[' .. call.args .. ']'))
          assert(repo == 'ctxls/ctxls', repo)
          vim.opt.runtimepath:prepend('%s/' .. options.rtp)
        end, { nargs = '+' })
        vim.cmd([=[%s]=])]]
      expect.same(said(stand_in:format(machines.repo, plug)), '2', 'with vim-plug')
      local editor = editors.start(machine)
      expect.same(
        editor:lua('return loadstring("return " .. ...)()', readme:match('setup%((%b{})%)\n```\n\n## Develop')),
        editor:lua("return require('ctxls.config').defaults"),
        'the defaults in the README'
      )
    end,
  },
  {
    'the README’s examples for statuslines draw the gauge',
    function()
      local machine = machines.new()
      local readme = read('README.md')
      local editor = editors.start(machine)
      editor:running()
      machine:agent('aaaa-1111'):statusline(143912)
      editor:shows('! 72% · ~23k to compaction')
      local function drawn(statusline)
        return editor:lua('return vim.api.nvim_eval_statusline(..., {}).str', statusline)
      end
      expect.holds(drawn(readme:match('vim.o.statusline = "(.-)"\n')), '! 72% · ~23k to compaction')
      -- heirline puts the string of a provider into the statusline, and calls it again after the event of "update".
      local component = readme:match('```lua\n(local Ctxls = {.-\n})\n```')
      local text, event = unpack(editor:lua(component .. [[
        return { Ctxls.provider(), Ctxls.update[1] .. ' ' .. Ctxls.update.pattern }]]))
      expect.same(drawn(text), '! 72% · ~23k to compaction', 'heirline')
      expect.same(event, 'User CtxlsChanged', 'the event')
      -- mini.statusline joins groups; one that is a string goes in as it is.
      local mini = readme:match("```lua\n(require%('mini.statusline'%).-\n}%))\n```")
      text = editor:lua([[
        local function section(text) return function() return text, 'StatusLine' end end
        _G.MiniStatusline = {
          section_mode = section('Normal'), section_filename = section('a.txt'), section_location = section('1|1'),
          combine_groups = function(groups)
            return table.concat(vim.tbl_map(function(group)
              return type(group) == 'string' and group or ('%%#%s# %s '):format(group.hl, table.concat(group.strings, ' '))
            end, groups))
          end,
        }
        package.loaded['mini.statusline'] = { setup = function(config) MiniStatusline.config = config end }
        ]] .. mini .. [[ return MiniStatusline.config.content.active()]])
      expect.holds(drawn(text), 'a.txt', '! 72% · ~23k to compaction', '1|1')
    end,
  },
  {
    'the stand-in for an old Neovim has every function',
    function()
      local editor = editors.start(machines.new())
      expect.same(
        editor:lua([[return vim.tbl_filter(function(name)
          return require('ctxls.old')[name] == nil end, vim.tbl_keys(require('ctxls')))]]),
        {},
        'functions without'
      )
    end,
  },
}

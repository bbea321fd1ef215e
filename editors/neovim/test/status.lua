-- The gauge: what status() says for each state that real hooks bring about.
local editors = require('lib.editor')
local expect = require('lib.expect')
local machines = require('lib.machine')

local function start(options)
  local machine = machines.new()
  local editor = editors.start(machine, options)
  editor:setup()
  return machine, editor
end

return {
  {
    'nothing starts before the statusline is drawn, and then one server',
    function()
      local machine, editor = start()
      editor:lua('vim.wait(200)')
      expect.same(editor:state().kind, 'stopped', 'the server before anybody asks')
      expect.same(machine:servers(), {}, 'processes')
      expect.same(editor:status(), '', 'status() without a session')
      editor:running()
      expect.same(#machine:servers(), 1, 'processes')
      expect.same(editor:state().path, machine.bin .. '/ctxls', 'the program')
    end,
  },
  {
    'status() follows the hooks of a session, level by level',
    function()
      local machine, editor = start()
      editor:running()
      local agent = machine:agent('aaaa-1111')
      agent:hook('SessionStart.startup.interactive')
      editor:shows('?')
      expect.same(editor:lua("return require('ctxls').highlight()"), 'CtxlsUnknown', 'the group')
      for _, level in ipairs({
        { 60000, '30% · ~107k to compaction', 'CtxlsNormal', '30%% · ~107k to compaction' },
        { 110000, '55% · ~57k to compaction', 'CtxlsNotice', '%#CtxlsBarNotice#55%% · ~57k to compaction%*' },
        { 143912, '! 72% · ~23k to compaction', 'CtxlsWarning', '%#CtxlsBarWarning#! 72%% · ~23k to compaction%*' },
        { 180000, '!! 90% · ~0 to compaction', 'CtxlsCritical', '%#CtxlsBarCritical#!! 90%% · ~0 to compaction%*' },
      }) do
        agent:statusline(level[1])
        editor:shows(level[2])
        expect.same(editor:lua("return require('ctxls').highlight()"), level[3], 'the group')
        expect.same(editor:lua("return require('ctxls').statusline()"), level[4], 'statusline()')
        local drawn =
          editor:lua([[return vim.api.nvim_eval_statusline("%{%v:lua.require'ctxls'.statusline()%}", {}).str]])
        expect.same(drawn, level[2], 'what is drawn')
      end
      agent:hook('PreCompact.auto')
      editor:shows('↻ 90% · ~0 to compaction')
      agent:hook('PostCompact.auto')
      expect.eventually(function()
        return editor:status():find('^~') and not editor:status():find('↻')
      end, nil, 'the estimate after a compaction')
      agent:hook('SessionEnd.other')
      editor:shows('')
    end,
  },
  {
    'status() is a string that is at hand',
    function()
      local machine, editor = start()
      editor:running()
      machine:agent('aaaa-1111'):statusline(60000)
      editor:shows('30% · ~107k to compaction')
      local grown, each = unpack(editor:lua([[
        local status = require('ctxls').status
        status()
        collectgarbage() collectgarbage('stop')
        local before, begin = collectgarbage('count'), vim.uv.hrtime()
        for _ = 1, 100000 do status() end
        local each = (vim.uv.hrtime() - begin) / 100000
        local grown = collectgarbage('count') - before
        collectgarbage('restart')
        return { grown, each }]]))
      assert(grown < 64, ('100,000 calls allocate %.0f KiB'):format(grown))
      assert(each < 20000, ('a call takes %.0f ns'):format(each))
    end,
  },
  {
    'CtxlsUpdate tells of each change',
    function()
      local machine, editor = start()
      editor:running()
      machine:agent('aaaa-1111'):statusline(60000)
      editor:shows('30% · ~107k to compaction')
      local updates = editor:lua('return _G.seen.updates')
      expect.same(
        updates[#updates],
        { session = 'claude-code/aaaa-1111', status = '30% · ~107k to compaction' },
        'the event'
      )
    end,
  },
  {
    'CtxlsChanged names the sessions that changed and those that are gone, and a function can watch them',
    function()
      local machine, editor = start()
      editor:lua([[
        _G.seen.changed, _G.seen.watched = {}, 0
        vim.api.nvim_create_autocmd('User', { pattern = 'CtxlsChanged', callback = function(event)
          table.insert(_G.seen.changed, event.data)
        end })
        require('ctxls').watch(function(changes) _G.seen.watched = _G.seen.watched + #changes end)]])
      editor:running()
      local agent = machine:agent('aaaa-1111')
      agent:statusline(60000)
      editor:shows('30% · ~107k to compaction')
      local function last()
        local all = editor:lua('return _G.seen.changed')
        return all[#all]
      end
      expect.same(last().changed, { 'claude-code/aaaa-1111' }, 'what changed')
      expect.same(last().status, '30% · ~107k to compaction', 'status')
      assert(editor:lua('return _G.seen.watched') > 0, 'the function was not called')
      expect.same(
        editor:lua("return require('ctxls').session('claude-code/aaaa-1111').usage.tokens"),
        60000,
        'session()'
      )
      expect.same(editor:lua("return require('ctxls').server().kind"), 'running', 'server()')
      editor:lua(
        [[
        require('ctxls').history('claude-code/aaaa-1111', function(_, samples) _G.seen.samples = samples end)
        require('ctxls').breakdown('claude-code/aaaa-1111', function(_, breakdown) _G.seen.breakdown = breakdown end)]]
      )
      expect.eventually(function()
        return editor:lua('return _G.seen.samples and _G.seen.breakdown and #_G.seen.samples')
      end, 1, 'history() and breakdown()')
      agent:hook('SessionEnd.other')
      expect.eventually(function()
        return last().removed
      end, { 'claude-code/aaaa-1111' }, 'what is gone')
    end,
  },
  {
    'the newest active session of the project is shown, a pinned one before it',
    function()
      local machine, editor = start({ cwd = nil })
      editor:running()
      machine:agent('aaaa-1111'):statusline(60000)
      machine:agent('bbbb-2222', machine.project .. '/web'):statusline(100000)
      machine:agent('cccc-3333', machine.home .. '/elsewhere'):statusline(190000)
      editor:shows('50% · ~67k to compaction')
      editor:lua("require('ctxls').pin('claude-code/aaaa-1111')")
      editor:shows('30% · ~107k to compaction')
      expect.same(#editor:lua("return require('ctxls').sessions()"), 2, 'sessions here')
      editor:lua("require('ctxls').pin()")
      editor:shows('50% · ~67k to compaction')
      -- Another directory is another project; one below is the same.
      editor:command('cd ' .. machine.home .. '/shop/.git')
      editor:shows('50% · ~67k to compaction')
      vim.fn.mkdir(machine.home .. '/elsewhere')
      editor:command('cd ' .. machine.home .. '/elsewhere')
      editor:shows('!! 95% · ~0 to compaction')
      editor:setup({ sessions = 'all' })
      expect.eventually(function()
        return #editor:lua("return require('ctxls').sessions()")
      end, 3, 'all sessions')
    end,
  },
  {
    'an idle session gives way, and is still listed',
    function()
      local machine = machines.new()
      machine:agent('aaaa-1111'):statusline(60000)
      machine:ages('aaaa-1111', 31)
      local editor = editors.start(machine)
      editor:setup({ quiet = '-' })
      editor:running()
      expect.eventually(function()
        return #editor:lua("return require('ctxls').sessions()")
      end, 1, 'sessions')
      expect.same(editor:lua("return require('ctxls').sessions()[1].state"), 'idle', 'its state')
      expect.same(editor:status(), '-', 'status()')
      editor:lua("require('ctxls').pin('claude-code/aaaa-1111')")
      editor:shows('30% · ~107k to compaction')
    end,
  },
  {
    'a format says what is shown, and data in it is only text',
    function()
      local machine, editor = start()
      editor:setup({
        format = '{icon} {title} 100% {bar} | {tokens}/{window} · {model} · {forecast} · {agents} agents · {nothing}',
        icons = { session = 'S', warning = 'S' },
      })
      editor:running()
      machine:agent('aaaa-1111'):statusline(143912, { session_name = '%#Error#%{evil()}\27[2J\n%=\226\128\174x' })
      expect.eventually(function()
        return editor:status() ~= '' and editor:status():find('72%%') == nil
      end)
      local want =
        'S %#Error#%{evil()} [2J %= x 100% ██████│░ | 144k/200k · claude-sonnet-4-6 · {nothing}'
      local got = editor:status()
      expect.lacks(got, '\27', '\n', '\226\128\174')
      local drawn = editor:lua([[return vim.api.nvim_eval_statusline("%{%v:lua.require'ctxls'.statusline()%}", {
        maxwidth = 200, highlights = true })]])
      expect.same(drawn.str, got, 'what is drawn')
      expect.same(drawn.highlights[1].group, 'CtxlsBarWarning', 'the only colour')
      expect.same(got, want, 'status()')
    end,
  },
  {
    'options are checked, and what is wrong is said',
    function()
      local _, editor = start()
      for wrong, why in pairs({
        ['{ formt = "x" }'] = 'formt: there is no such option; there are border, config, format, icons',
        ['{ format = 7 }'] = 'format: expected a string, got a number',
        ['{ sessions = "mine" }'] = 'sessions: expected "workspace" or "all", got "mine"',
        ['{ notify = { critical = "no" } }'] = 'notify.critical: expected a boolean, got a string',
        ['{ notify = { fleets = true } }'] = 'notify.fleets: there is no such option; there are critical, fleet',
        ['{ border = "wavy" }'] = 'border: expected "none", "single", "double", "rounded"',
        ['{ border = { "+", "-", "+" } }'] = 'border: expected "none", "single", "double", "rounded"',
        ['{ root_markers = { 1 } }'] = 'root_markers: expected a list of strings, got { 1 }',
        ['"x"'] = 'expected a table, got a string',
      }) do
        local ok, err = unpack(editor:lua(("return { pcall(require('ctxls').setup, %s) }"):format(wrong)))
        expect.same(ok, false, wrong)
        expect.holds(err, 'ctxls: setup: ' .. why)
      end
    end,
  },
  {
    'settings of the workspace go to the server, and levels are its own',
    function()
      local machine, editor = start()
      editor:setup({ config = { levels = { 10, 20, 30 } } })
      editor:running()
      machine:agent('aaaa-1111'):statusline(60000)
      editor:shows('!! 30% · ~107k to compaction')
      expect.same(editor:lua("return require('ctxls').highlight()"), 'CtxlsCritical', 'the group')
      editor:setup({ config = { levels = { 10, 20, 31 } } })
      expect.eventually(function()
        return editor:lua("return require('ctxls').highlight()")
      end, 'CtxlsWarning', 'the group')
      expect.same(#machine:servers(), 1, 'processes')
    end,
  },
  {
    'a directory and settings that change while the server starts are not lost',
    function()
      local machine, editor = start()
      local elsewhere = machine.home .. '/elsewhere'
      vim.fn.mkdir(elsewhere)
      machine:agent('aaaa-1111'):statusline(60000)
      machine:agent('cccc-3333', elsewhere):statusline(40000)
      editor:lua(
        [[
        require('ctxls').start()
        assert(require('ctxls.server').state().kind == 'starting')
        vim.cmd.cd(...)
        require('ctxls').setup({ config = { levels = { 10, 15, 20 } } })]],
        elsewhere
      )
      editor:shows('!! 20% · ~127k to compaction')
      expect.eventually(function()
        return editor:lua("return require('ctxls').highlight()")
      end, 'CtxlsCritical', 'the group')
    end,
  },
  {
    'crossing into critical is said once',
    function()
      local machine, editor = start()
      editor:running()
      local agent = machine:agent('aaaa-1111')
      agent:statusline(60000)
      editor:shows('30% · ~107k to compaction')
      agent:statusline(180000)
      expect.holds(editor:says('shop: the context window is 90% full.'), 'ctxls: ')
      agent:statusline(182000)
      editor:shows('!! 91% · ~0 to compaction')
      expect.same(select(2, editor:messages():gsub('% full', '')), 1, 'how often it was said')
    end,
  },
  {
    'many sessions that become critical are said in one message, and without the focus nothing is said',
    function()
      local machine, editor = start()
      editor:running()
      local all = {}
      for i = 1, 8 do
        all[i] = machine:agent(('aaaa-%d'):format(i))
        all[i]:statusline(60000)
      end
      expect.eventually(function()
        return #editor:lua("return require('ctxls').sessions()")
      end, 8, 'sessions')
      editor:command('doautocmd FocusLost')
      for _, agent in ipairs(all) do
        agent:statusline(180000)
      end
      editor:shows('!! 90% · ~0 to compaction')
      expect.eventually(function()
        local critical = vim.tbl_filter(function(s)
          return s.usage.level == 'critical'
        end, editor:lua("return require('ctxls').sessions()"))
        return #critical
      end, 8, 'critical sessions')
      editor:lua('vim.wait(600)') -- longer than they are gathered
      expect.same(editor:messages(), '', 'what was said without the focus')
      all[8]:hook('SessionEnd.other')
      expect.eventually(function()
        return #editor:lua("return require('ctxls').sessions()")
      end, 7, 'sessions')
      editor:command('doautocmd FocusGained')
      expect.same(
        editor:says('7 '),
        'ctxls: 7 context windows are critically full.', -- the long form has no room on 80 columns
        'what was said'
      )
    end,
  },
  {
    'a session that is taken up again and critical from the start is said, one that was there before is not',
    function()
      local machine, editor = start()
      machine:agent('aaaa-1111'):statusline(190000)
      editor:running()
      editor:shows('!! 95% · ~0 to compaction')
      local agent = machine:agent('bbbb-2222', machine.project .. '/web')
      agent:hook('SessionStart.startup.interactive')
      editor:shows('?')
      agent:statusline(180000)
      editor:says('web: the context window is 90% full')
      expect.lacks(editor:messages(), '95%')
    end,
  },
  {
    'the gauge of lualine',
    function()
      local machine, editor = start()
      -- The part of lualine that its components lean on.
      editor:lua([[
        local class = {}
        class.__index = class
        function class:extend() local new = { super = self } new.__index = new return setmetatable(new, self) end
        function class:init(options) self.options = options end
        package.loaded['lualine.component'] = class]])
      editor:running()
      machine:agent('aaaa-1111'):statusline(143912)
      editor:shows('! 72% · ~23k to compaction')
      local function on(bar)
        return unpack(editor:lua(
          [[
          vim.api.nvim_set_hl(0, 'lualine_c_normal', { bg = ... })
          vim.api.nvim_set_hl(0, 'DiagnosticWarn', { fg = 0xfce094 })
          vim.api.nvim_set_hl(0, 'Normal', { bg = 0x14161b })
          local component = require('lualine.components.ctxls')
          local it = setmetatable({}, component)
          it:init({})
          return { it:update_status(), it.options.color({ section = 'x' }) }]],
          bar
        ))
      end
      local text, dark = on(0x14161b)
      local _, light = on(0xc4c6cd)
      expect.same(text, '! 72%% · ~23k to compaction', 'the component')
      expect.same(dark, { fg = '#fce094' }, 'its colour on a dark bar')
      expect.same(light, { fg = '#14161b', bg = '#fce094' }, 'its colour on a light one')
    end,
  },
  {
    'before 0.11, where a group in the statusline has all of its look itself, it has the bar’s',
    function()
      local editor = editors.start(machines.new())
      local groups = editor:lua([[
        local has = vim.fn.has
        vim.fn.has = function(feature) return feature == 'nvim-0.11' and 0 or has(feature) end
        vim.o.termguicolors = true
        vim.api.nvim_set_hl(0, 'StatusLine', { fg = 0x2c2e33, bg = 0xc4c6cd, cterm = { reverse = true } })
        vim.api.nvim_set_hl(0, 'Normal', { fg = 0xe0e2ea, bg = 0x14161b })
        vim.api.nvim_set_hl(0, 'DiagnosticWarn', { fg = 0xfce094, ctermfg = 11 })
        vim.api.nvim_set_hl(0, 'DiagnosticInfo', { fg = 0x8cf8f7, ctermfg = 14 })
        require('ctxls.colours').define()
        local get = function(name) return vim.api.nvim_get_hl(0, { name = name }) end
        return { get('CtxlsBarNotice'), get('CtxlsBarWarning') }]])
      local notice, warning = unpack(groups)
      expect.same({ notice.fg, notice.bg, notice.bold }, { 0x2c2e33, 0xc4c6cd, true }, 'notice')
      expect.same(notice.cterm, { bold = true, reverse = true }, 'notice in the colours of the terminal')
      expect.same({ warning.fg, warning.bg }, { 0x14161b, 0xfce094 }, 'warning')
      expect.same({ warning.ctermfg, warning.ctermbg, warning.cterm }, { 0, 11, { nocombine = true } }, 'warning there')
    end,
  },
}

-- What a person sees: the editor in a terminal, its colours read from what the terminal was sent.
local editors = require('lib.editor')
local expect = require('lib.expect')
local machines = require('lib.machine')
local terminals = require('lib.terminal')

local bar = [[
vim.o.laststatus = 2
vim.o.statusline = "%f %m%=%{%v:lua.require'ctxls'.statusline()%} utf-8"
]]

local levels = {
  { tokens = 60000, text = '30% · ~107k to compaction' },
  { tokens = 110000, text = '55% · ~57k to compaction', group = 'DiagnosticInfo' },
  { tokens = 143912, text = '! 72% · ~23k to compaction', group = 'DiagnosticWarn' },
  { tokens = 180000, text = '!! 90% · ~0 to compaction', group = 'DiagnosticError' },
}

---What a group looks like in an editor without a screen.
local function looks(scheme, group)
  local editor = editors.start(machines.new())
  editor:lua(scheme)
  local found = editor:lua('return vim.api.nvim_get_hl(0, { name = ..., link = false })', group)
  return { gui = found.fg and ('#%06x'):format(found.fg), cterm = found.ctermfg and tostring(found.ctermfg) }
end

local function luminance(colour)
  local sum = 0
  for i, weight in ipairs({ 0.2126, 0.7152, 0.0722 }) do
    local part = tonumber(colour:sub(2 * i, 2 * i + 1), 16) / 255
    sum = sum + weight * (part <= 0.04045 and part / 12.92 or ((part + 0.055) / 1.055) ^ 2.4)
  end
  return sum
end

---What is drawn of a text: its colour and the one behind it, after a reversal.
local function drawn(style)
  if style.reverse then
    return style.bg, style.fg
  end
  return style.fg, style.bg
end

local function in_scheme(name, scheme)
  return {
    'each level has its colour, and can be read, in ' .. name,
    function()
      local machine = machines.new()
      local terminal = terminals.start(machine, scheme .. '\n' .. bar)
      local agent = machine:agent('aaaa-1111')
      for _, level in ipairs(levels) do
        agent:statusline(level.tokens)
        terminal:shows(level.text)
        local style, plain = terminal:style(level.text), terminal:style('utf-8')
        local fg, bg = drawn(style)
        if not level.group then
          expect.same(style, plain, 'the style of ' .. level.text)
        else
          local want = looks(scheme, level.group)
          local coloured = fg == want.gui or bg == want.gui or fg == want.cterm or bg == want.cterm
          assert(
            coloured or (level.group == 'DiagnosticInfo' and style.bold),
            ('%s is drawn as %s, and not in the colour %s'):format(level.text, vim.inspect(style), vim.inspect(want))
          )
        end
        if fg and bg and fg:sub(1, 1) == '#' and bg:sub(1, 1) == '#' then
          local a, b = luminance(fg), luminance(bg)
          local contrast = (math.max(a, b) + 0.05) / (math.min(a, b) + 0.05)
          assert(contrast >= 4.5, ('%s: %s on %s has a contrast of %.1f'):format(level.text, fg, bg, contrast))
        end
      end
      -- In a window where one is not, too.
      terminal:command('split')
      expect.eventually(function()
        return select(2, terminal:screen():gsub('!! 90%% · ~0 to compaction', '')) == 2
      end, nil, 'two statuslines')
      agent:hook('SessionEnd.other')
      terminal:hides('90%')
    end,
  }
end

return {
  in_scheme('the default scheme, dark', 'vim.o.termguicolors = true vim.o.background = "dark"'),
  in_scheme('the default scheme, light', 'vim.o.termguicolors = true vim.o.background = "light"'),
  in_scheme('habamax', 'vim.o.termguicolors = true vim.cmd.colorscheme("habamax")'),
  in_scheme('the colours of the terminal', 'vim.o.termguicolors = false'),
  {
    'the window shows everything, follows, and leaves nothing behind',
    function()
      local machine = machines.new()
      vim.fn.writefile(
        vim.fn['repeat']({ 'func Total(c Cart) Money {', '\treturn c.sum().round()', '}', '' }, 9),
        machine.project .. '/total.go'
      )
      local terminal = terminals.start(
        machine,
        'vim.o.termguicolors = true\n' .. bar,
        { columns = 84, rows = 30, args = { 'total.go' } }
      )
      local agent = machine:agent('aaaa-1111')
      for i, tokens in ipairs({ 30000, 52000, 71000, 96000, 120000, 150000 }) do
        agent.ago = 60 - 6 * i
        agent:turn(tokens)
      end
      agent.ago = 20
      agent:compacted(150000, 15000)
      local held = 15000 -- the system prompt and the tools
      agent.ago = 16
      agent:look('src/main.go', 26000, held)
      agent:turn(41000)
      held = 41000
      agent:hook('UserPromptSubmit', { prompt = 'go on' })
      agent:reads('src/main.go', 'src/cart/total.go', 'README.md')
      for _, step in ipairs({ { 88000, 'src/cart/total.go', 9 }, { 139000, 'README.md', 0 } }) do
        agent.ago = step[3]
        agent:look(step[2], step[1] - held, held)
        agent:turn(step[1])
        held = step[1]
      end
      agent:statusline(143912, { session_name = 'Checkout: round totals' })
      terminal:shows('! 72% · ~23k to compaction')
      terminal:command('Ctxls')
      terminal:shows(
        '╭ Checkout: round totals ─',
        '███████████████████████░░░│░░░░░ 72% · warning · ~23,011 tokens to compaction',
        'q close · ? keys',
        'from the host’s status line',
        '54 min ago',
        '▼',
        'system prompt and tools',
        'src/cart/total.go',
        '1 so far'
      )
      local want = looks('vim.o.termguicolors = true', 'DiagnosticWarn').gui
      expect.same(
        terminal:style('███████████████████████').fg,
        want,
        'the colour of the gauge'
      )
      terminal:keep('window')
      agent:statusline(180000)
      -- The message is of a length for this screen: on a smaller one it would ask for a key.
      terminal:shows('90% · critical · ~0 tokens to compaction', '90% full')
      terminal:tmux('resize-window', '-x', 60, '-y', 14)
      terminal:shows('critical · ~0 tokens to compaction', '!! 90% · ~0 to compaction', '(anthropic, claude-code)')
      -- On a small screen no number is broken, and a value stands below its label.
      terminal:tmux('resize-window', '-x', 40, '-y', 14)
      terminal:shows('critical · ~0 tokens to compaction', '!! 90% · ~0 to compaction', '?', 'claude-code)')
      terminal:press('C-d')
      terminal:shows('180,000, 90.0% of the window', 'at 167,000, ~0 left;')
      terminal:keep('window-narrow')
      terminal:press('G')
      terminal:shows('README.md')
      -- On a large one the room is used.
      terminal:tmux('resize-window', '-x', 200, '-y', 50)
      local wide = terminal:shows('90% · critical · ~0 tokens to compaction', 'README.md', 'q close · ? keys')
      local _, blocks = wide:match('[^\n]*▼[^\n]*'):gsub('.', '')
      assert(blocks > 60, 'the history is ' .. blocks .. ' bytes long')
      terminal:keep('window-wide')
      terminal:press('?')
      terminal:shows('Keys', 'open the file under the cursor')
      terminal:press('?')
      terminal:hides('open the file under the cursor')
      terminal:tmux('resize-window', '-x', 84, '-y', 30)
      terminal:press('q')
      for _, part in ipairs({ '╭', 'Works on' }) do
        terminal:hides(part)
      end
    end,
  },
  {
    'the message about a full window goes with a compaction, and another message stays',
    function()
      local machine = machines.new()
      local terminal = terminals.start(machine, bar, { columns = 100, rows = 12 })
      for _, id in ipairs({ 'aaaa-1111', 'bbbb-2222' }) do
        local agent = machine:agent(id)
        agent:statusline(60000)
        terminal:shows('30% · ~107k to compaction')
        agent:statusline(180000)
        terminal:shows('the context window is 90% full')
        if id == 'bbbb-2222' then
          terminal:command('echomsg "something else"')
          terminal:shows('something else')
        end
        agent:hook('PreCompact.auto')
        agent:hook('PostCompact.auto')
        terminal:hides('!! 90%')
        terminal:hides('the context window is 90% full')
      end
      terminal:shows('something else')
    end,
  },
  {
    'the picker pins a session by a number that is typed',
    function()
      local machine = machines.new()
      local terminal = terminals.start(machine, bar)
      machine:agent('aaaa-1111'):statusline(60000, { session_name = 'tidy up' })
      machine:agent('bbbb-2222', machine.project .. '/web'):statusline(100000)
      terminal:shows('50% · ~67k to compaction')
      terminal:command('Ctxls sessions')
      terminal:shows(
        'Pin a session to the statusline:',
        '1:   50% █████░░░│░  web      ',
        '2:   30% ███░░░░░│░  tidy up  '
      )
      terminal:keep('picker')
      terminal:press('2', 'Enter')
      terminal:shows('30% · ~107k to compaction utf-8')
      terminal:command('Ctxls sessions')
      terminal:shows('1: Follow the newest session', '30% ███░░░░░│░  * tidy up')
      terminal:press('1', 'Enter')
      terminal:shows('50% · ~67k to compaction utf-8')
    end,
  },
  {
    'the picker fits the screen, however many sessions and however long their names',
    function()
      local machine = machines.new()
      for i = 1, 12 do
        machine
          :agent(('aaaa-%04d'):format(i))
          :statusline(10000 * i, { session_name = ('a name that is %s long %d'):format(('very '):rep(i), i) })
      end
      for _, columns in ipairs({ 40, 80, 200 }) do
        local terminal = terminals.start(machine, bar, { columns = columns, rows = 40 })
        terminal:shows('to compaction')
        terminal:command('Ctxls sessions')
        local screen = terminal:shows('12:', 'Type number')
        local rows = vim.tbl_filter(function(line)
          return line:find('^%d+: ')
        end, vim.split(screen, '\n'))
        expect.same(#rows, 12, ('rows at %d columns'):format(columns))
        local at = {}
        for _, row in ipairs(rows) do
          at[vim.api.nvim_strwidth(row:match('^%d+:%s+%S+ ')) - #row:match('^%d+')] = true
          assert(vim.api.nvim_strwidth(row) < columns, 'wrapped: ' .. row)
        end
        expect.same(vim.tbl_count(at), 1, ('where bars begin at %d columns'):format(columns))
        terminal:keep('picker-' .. columns)
        terminal:press('q', 'Enter')
        terminal:tmux('kill-server')
      end
    end,
  },
  {
    'a key opens the file under the cursor, and another lists them in the quickfix window',
    function()
      local machine = machines.new()
      vim.fn.mkdir(machine.project .. '/src', 'p')
      vim.fn.writefile({ 'package main' }, machine.project .. '/src/main.go')
      local terminal = terminals.start(machine, bar, { columns = 100, rows = 45 })
      local agent = machine:agent('aaaa-1111')
      agent:turn(60000)
      agent:reads('src/main.go', 'gone.go')
      agent:turn(70000)
      terminal:shows('35% · ~97k to compaction')
      terminal:command('Ctxls')
      terminal:shows('src/main.go', 'system prompt')
      terminal:press('/gone.go', 'Enter', 'Enter')
      terminal:shows('there is no file gone.go')
      terminal:press('/src.main', 'Enter')
      terminal:press('gf')
      terminal:hides('Works on')
      terminal:shows('package main', 'src/main.go')
      terminal:command('Ctxls')
      terminal:shows('system prompt')
      terminal:press('c')
      terminal:shows('|| system prompt and tools: ~', '[Quickfix List]')
      terminal:keep('quickfix')
    end,
  },
  {
    'install shows the change while it asks',
    function()
      local machine = machines.new()
      local terminal = terminals.start(machine, bar, { columns = 120, rows = 40 })
      terminal:shows('utf-8') -- what is typed before it is up goes to the terminal
      terminal:command('Ctxls install codex --user')
      terminal:shows('+++ ', '.codex/hooks.json', '1: Install', 'Nothing is written yet.')
      terminal:press('1', 'Enter')
      terminal:shows('hooks added')
      assert(vim.uv.fs_stat(machine.home .. '/.codex/hooks.json'))
    end,
  },
  {
    'a missing program is said in a line, without a question, and the bar says it on',
    function()
      local terminal = terminals.start(machines.new({ ctxls = false }), bar, { columns = 80, rows = 24 })
      terminal:shows('⚠ ctxls utf-8', 'ctxls: there is no ctxls on the PATH; see :checkhealth ctxls')
      expect.lacks(terminal:screen(), 'Press ENTER')
      terminal:command('checkhealth ctxls')
      terminal:shows('ERROR there is no ctxls on the PATH', 'ADVICE')
      terminal:keep('health')
    end,
  },
  {
    'what hosts call things cannot change the terminal or the bar',
    function()
      local machine = machines.new()
      local terminal =
        terminals.start(machine, "require('ctxls').setup({ format = '{title} {model}' })\n" .. bar, { columns = 160 })
      machine:agent('aaaa-1111'):statusline(60000, {
        session_name = '%#Error#%{execute("qa!")}%=\27]2;owned\7\27[2J\155' .. '31m\226\128\174x',
        model = { id = 'm%%n%{1+1}', display_name = 'm' },
      })
      terminal:shows('%#Error#%{execute("qa!")}%= ]2;owned [2J', 'm%%n%{1+1} utf-8')
      expect.same(terminal:style('%#Error#'), terminal:style('utf-8'), 'the style')
      expect.lacks(terminal:tmux('display-message', '-p', '#{pane_title}'), 'owned')
      terminal:command('Ctxls')
      terminal:shows('╭ %#Error#%{execute', 'm%%n%{1+1}')
    end,
  },
  {
    'no process is left when the terminal goes away',
    function()
      local machine = machines.new()
      local terminal = terminals.start(machine, bar)
      expect.eventually(function()
        return #machine:servers()
      end, 1, 'a server')
      terminal:tmux('kill-pane') -- its editor gets SIGHUP; cleaning up waits for the server to go
      expect.eventually(function()
        return #machine:servers()
      end, 0, 'the end of the server')
    end,
  },
}

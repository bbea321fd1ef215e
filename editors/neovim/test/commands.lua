-- :Ctxls and what can follow it.
local editors = require('lib.editor')
local expect = require('lib.expect')
local machines = require('lib.machine')

local function start()
  local machine = machines.new()
  local editor = editors.start(machine)
  return machine, editor
end

---Waits until the floating window holds the text, and returns all of it.
local function floats(editor, text)
  expect.eventually(
    function()
      return editor:float():find(text, 1, true)
    end,
    nil,
    ('"%s" in the floating window, which has "%s"; messages "%s"'):format(text, editor:float(), editor:messages())
  )
  return editor:float()
end

local function completes(editor, line)
  return editor:lua('return vim.fn.getcompletion(..., "cmdline")', line)
end

return {
  {
    'completion knows the commands, sessions, hosts and flags',
    function()
      local machine, editor = start()
      expect.same(
        completes(editor, 'Ctxls '),
        { 'install', 'log', 'measure', 'pin', 'quickfix', 'report', 'restart', 'sessions', 'setup', 'show', 'unpin' },
        'commands'
      )
      expect.same(completes(editor, 'Ctxls re'), { 'report', 'restart' }, 'commands')
      expect.same(completes(editor, "'<,'>Ctxls me"), { 'measure' }, 'commands of a range')
      -- A program is asked for hosts; a key that is pressed does not wait long for it.
      for line, want in pairs({
        ['Ctxls install c'] = { 'claude-code', 'codex' },
        ['Ctxls install claude-code --l'] = { '--local' },
        ['Ctxls install claude-code --s'] = { '--statusline' },
      }) do
        expect.eventually(function()
          return completes(editor, line)
        end, want, line)
      end
      expect.same(completes(editor, 'Ctxls install nobody '), {}, 'flags of no host')
      editor:running()
      machine:agent('aaaa-1111'):statusline(60000)
      editor:shows('30% · ~107k to compaction')
      for _, command in ipairs({ 'show', 'pin', 'quickfix' }) do
        expect.same(completes(editor, ('Ctxls %s '):format(command)), { 'claude-code/aaaa-1111' }, command)
      end
    end,
  },
  {
    'what is no command is said',
    function()
      local _, editor = start()
      editor:command('Ctxls nothing')
      expect.holds(editor:says('there is no ":Ctxls nothing"'), 'there are install, log, measure, pin')
    end,
  },
  {
    'sessions lists them, pins one, and goes back',
    function()
      local machine, editor = start()
      machine:agent('aaaa-1111'):statusline(60000, { session_name = 'tidy up' })
      machine:agent('bbbb-2222', machine.project .. '/web'):statusline(100000)
      editor:choose('tidy up', 'Follow')
      editor:command('Ctxls sessions')
      -- Before that the one that is told of first may be in the statusline for a moment.
      local offered = expect.eventually(function()
        return editor:lua('return _G.seen.offered')[1]
      end, nil, 'a question')
      editor:shows('30% · ~107k to compaction')
      expect.same(#offered, 2, 'how many are offered')
      editor:lua('vim.o.columns = 120')
      expect.same(
        offered[1],
        '  50% █████░░░│░  web           ~67k left   just now  claude-code',
        'the first'
      )
      expect.holds(offered[2], '  30% ███░░░░░│░  tidy up       ~107k left  just now')
      editor:command('Ctxls sessions')
      editor:shows('50% · ~67k to compaction')
      offered = editor:lua('return _G.seen.offered')[2]
      expect.same(offered[1], 'Follow the newest session', 'the first')
      expect.holds(
        offered[3],
        '  30% ███░░░░░│░  * tidy up',
        'just now  claude-code  claude-sonnet-4-6  ~/shop'
      )
      editor:command('Ctxls pin claude-code/aaaa-1111')
      editor:shows('30% · ~107k to compaction')
      editor:command('Ctxls unpin')
      editor:shows('50% · ~67k to compaction')
      editor:command('Ctxls pin')
      expect.eventually(function()
        return editor:lua("return require('ctxls.sessions').pinned() ~= nil")
      end, true, 'a pinned session')
      machine:agent('aaaa-1111'):statusline(64000)
      expect.eventually(function()
        return editor:lua("return require('ctxls').sessions()[1].usage.tokens")
      end, 64000, 'a newer session')
      expect.same(editor:status(), '50% · ~67k to compaction', 'the one that was shown stays')
      editor:command('Ctxls pin codex/none')
      editor:says('no session is called "codex/none"')
    end,
  },
  {
    'without a session, sessions and show say what to do',
    function()
      local _, editor = start()
      editor:command('Ctxls sessions')
      editor:says('no session is known in this project; see :Ctxls install')
      editor:command('Ctxls show')
      editor:command('Ctxls show codex/none')
      editor:says('no session is called "codex/none"')
    end,
  },
  {
    'show has all of a session, and follows it',
    function()
      local machine, editor = start()
      local agent = machine:agent('aaaa-1111')
      agent:hook('SessionStart.startup.interactive')
      agent:hook('UserPromptSubmit', { prompt = 'go on' })
      agent:answer(60000)
      agent:reads('src/main.go', 'src/%#Error#.go')
      agent:turn(70000)
      agent:statusline(80000)
      editor:command('Ctxls')
      floats(editor, '▃') -- the history and the contents are asked for apart
      local said = floats(editor, 'system prompt and tools')
      expect.holds(
        said,
        ' 40% · ~86,923 tokens to compaction',
        'Model       claude-',
        'Window      200,000 tokens: the host says so',
        'Tokens      80,000, 40.0% of the window',
        'Compaction  at 167,000, ~86,923 left',
        'Growth      ? (known after the first turn)',
        'just now, from the host’s status line',
        'History',
        '▃',
        'What fills it',
        'Works on',
        'src/main.go',
        'src/%#Error#.go'
      )
      agent:hook('PreCompact.auto')
      floats(editor, '· compacting now')
      agent:hook('PostCompact.auto')
      agent:turn(30000)
      said = floats(editor, '15%')
      expect.holds(said, '1 so far')
      floats(editor, '▼')
      agent:hook('SessionEnd.other')
      floats(editor, 'This session has ended.')
      vim.rpcrequest(editor.channel, 'nvim_input', 'q')
      expect.eventually(function()
        return editor:float()
      end, '', 'the end of the window')
    end,
  },
  {
    'a session whose record is not known says so, and text of hosts does nothing',
    function()
      local machine, editor = start()
      machine:agent('aaaa-1111'):statusline(60000, {
        session_name = 'a\27]2;owned\7b',
        transcript_path = '/nowhere/at-all.jsonl',
        model = { id = 'evil\27[31m\nmodel', display_name = 'x' },
      })
      editor:command('Ctxls show claude-code/aaaa-1111')
      local said = floats(editor, 'Not known: ')
      expect.lacks(said, '\27', '\7')
      expect.holds(said, 'Model       evil')
    end,
  },
  {
    'measure counts a buffer, a range and nothing at all',
    function()
      local machine, editor = start()
      editor:lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'hello world', 'hello world', 'é\\255' })")
      editor:command('1Ctxls measure')
      editor:says('the selection has 2 tokens (cl100k_base).')
      editor:command('1,2Ctxls measure')
      editor:says('the selection has 5 tokens')
      machine:agent('aaaa-1111'):statusline(60000)
      editor:shows('30% · ~107k to compaction')
      editor:command('Ctxls measure')
      editor:says('the buffer has about ')
      expect.holds(editor:messages(), 'less than 0.1% of the window')
      editor:command('enew! | Ctxls measure')
      editor:says('0 tokens')
    end,
  },
  {
    'report shows the figures of all tasks',
    function()
      local machine, editor = start()
      editor:command('Ctxls report')
      floats(editor, 'tasks            0 of the last')
      vim.rpcrequest(editor.channel, 'nvim_input', '<Esc>')
      expect.eventually(function()
        return editor:float()
      end, '', 'the end of the window')
      local call = '{"jsonrpc":"2.0","id":1,"method":"metrics/record","params":{"taskId":"t","tokens":250000}}\n'
      machine:run({ 'serve' }, call)
      editor:command('Ctxls report')
      expect.holds(floats(editor, '← threshold'), 'over 200k        100.0%')
    end,
  },
  {
    'setup asks in a terminal window',
    function()
      local machine, editor = start()
      local file = machine.home .. '/.claude/settings.json'
      editor:command('Ctxls setup')
      expect.eventually(function()
        return editor:lua(
          "return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n'):find('Agent hosts:', 1, true) ~= nil"
        )
      end, true, 'the hosts')
      expect.same(vim.uv.fs_stat(file), nil, 'the settings')
    end,
  },
  {
    'install shows what would change before anything is written',
    function()
      local machine, editor = start()
      local file = machine.home .. '/.claude/settings.json'
      editor:choose('claude-code', 'For me, everywhere', 'status line', 'Cancel')
      editor:command('Ctxls install')
      expect.eventually(function()
        return #editor:lua('return _G.seen.offered')
      end, 4, 'questions')
      expect.same(vim.uv.fs_stat(file), nil, 'the settings')
      editor:choose('Install')
      editor:command('Ctxls install claude-code --user --statusline')
      expect.holds(editor:says('hooks added'), file, 'status line added')
      local written = table.concat(vim.fn.readfile(file), '\n')
      expect.holds(written, machine.bin .. '/ctxls', 'statusLine')
      expect.same(editor:lua('return #vim.api.nvim_list_wins()'), 1, 'windows')
      editor:command('Ctxls install claude-code --user --statusline')
      editor:says('nothing to do: ')
      editor:command('Ctxls install nobody')
      editor:says('there is no host "nobody"; there are ')
      editor:command('Ctxls install claude-code --wrong')
      editor:says('--wrong')
    end,
  },
  {
    'log shows what happened',
    function()
      local _, editor = start()
      editor:running()
      editor:command('Ctxls log')
      local text = editor:lua("return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')")
      expect.holds(text, 'runs, version')
      expect.same(text:find('level=INFO', 1, true), nil, 'a word of the server that is no warning')
      expect.same(editor:lua('return vim.bo.modifiable'), false, 'modifiable')
    end,
  },
}

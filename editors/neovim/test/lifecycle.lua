-- The life of the server: found, greeted, started again, refused; and gone with the editor, however that ends.
local editors = require('lib.editor')
local expect = require('lib.expect')
local machines = require('lib.machine')

---A machine on which a shell script of a test's own is ctxls.
local function with_script(script)
  local machine = machines.new({ ctxls = false })
  local path = machine.bin .. '/ctxls'
  vim.fn.writefile(vim.split('#!/bin/sh\n' .. script, '\n'), path)
  assert(vim.uv.fs_chmod(path, 493))
  return machine, path
end

---Starts an editor whose server cannot run, and returns why.
local function refused(machine, options)
  local editor = editors.start(machine)
  editor:setup(options)
  editor:status()
  editor:becomes('failed')
  editor:shows('⚠ ctxls')
  local why = editor:state().why
  local said = editor:says('; see :checkhealth ctxls')
  if #why < 40 then
    expect.same(said, ('ctxls: %s; see :checkhealth ctxls'):format(why), 'what is said')
  else -- it would not fit on the last line, and Neovim would wait for a key
    expect.same(said, 'ctxls: it does not run; see :checkhealth ctxls', 'what is said')
  end
  expect.same(editor:lua("return require('ctxls').highlight()"), 'CtxlsFailed', 'the group')
  return why, editor
end

---A server of a version of the protocol that says no more than that.
local greeting = [[
read -r line
printf '%s%s\n' '{"jsonrpc":"2.0","id":1,"result":{"serverInfo":{"name":"ctxls","version":"VERSION"},' \
  '"capabilities":{"experimental":{"ctxls":{"protocolVersion":PROTOCOL}}}}}'
cat > /dev/null]]

local function greets(protocol, version)
  return (greeting:gsub('PROTOCOL', protocol):gsub('VERSION', version))
end

---A server that greets and then answers and tells what no protocol knows.
local hostile = [[
local function say(message)
  message.jsonrpc = '2.0'
  io.write(vim.json.encode(message), '\n')
  io.flush()
end
local session = { host = 'x', sessionId = 'x', cwd = vim.uv.cwd(), title = '', model = '', state = 'active', updatedAt = 'never' }
local junk = { 5, 'x', true, {}, { 5 }, { host = 5 }, { session = 5 }, { session = session } }
vim.list_extend(junk, { { sessions = 5 }, { sessions = { 5, {}, session } } })
for _, usage in ipairs({ 5, {}, { display = 5 }, { display = {} }, { display = { percent = 'x' }, level = 5 } }) do
  junk[#junk + 1] = { session = vim.tbl_extend('error', session, { usage = usage }) }
end
for line in io.lines() do
  local asked = vim.json.decode(line)
  if asked.method == 'initialize' then
    local ours = { experimental = { ctxls = { protocolVersion = 1 } } }
    say({ id = asked.id, result = { serverInfo = { version = '1' }, capabilities = ours } })
  elseif asked.id then
    for _, result in ipairs(junk) do
      for _, method in ipairs({ 'session/changed', 'session/removed', 'metrics/thresholdExceeded', 'window/logMessage' }) do
        say({ method = method, params = result })
      end
      say({ method = result, params = result })
      say({ id = result, result = result })
    end
    say({ id = asked.id, result = junk[1 + asked.id % #junk] })
    say({ id = asked.id, error = 5 })
    say({ method = 'window/logMessage', params = { type = 3, message = 'all was said' } })
  end
end]]

---Whether a process is there and is no zombie.
local function lives(pid)
  local file = io.open(('/proc/%d/stat'):format(pid))
  local state = file and file:read('*a'):match('%) (%a)')
  if file then
    file:close()
  end
  return state ~= nil and state ~= 'Z'
end

---Starts an editor with a server, ends it and sees that the server goes, too.
local function goes_with(ending)
  local machine = machines.new()
  local editor = editors.start(machine)
  editor:running()
  local server = editor:lua("return require('ctxls.server').pid()")
  assert(lives(server))
  ending(editor)
  expect.eventually(function()
    return editor.code ~= nil
  end, nil, 'the end of the editor')
  expect.eventually(function()
    return lives(server)
  end, false, 'the end of the server')
  expect.same(machine:servers(), {}, 'processes')
end

return {
  {
    'a missing program is said, and found once it is there',
    function()
      local why, editor = refused(machines.new({ ctxls = false }))
      expect.same(why, 'there is no ctxls on the PATH')
      assert(vim.uv.fs_symlink(machines.ctxls, editor.machine.bin .. '/ctxls'))
      editor:command('Ctxls restart')
      editor:becomes('running')
      editor:shows('')
    end,
  },
  {
    'a path that cannot be used is not replaced by another',
    function()
      local machine = machines.new()
      expect.holds(refused(machine, { path = machine.home .. '/none' }), '/none, and there is no such file')
      expect.holds(
        refused(machine, { path = 'bin/ctxls' }),
        'the option path wants an absolute path, and is "bin/ctxls"'
      )
      expect.holds(refused(machine, { path = machine.home }), 'which is not a file')
      vim.fn.writefile({ 'x' }, machine.home .. '/plain')
      expect.holds(refused(machine, { path = '~/plain' }), '/plain may not be executed')
    end,
  },
  {
    'a relative directory of the PATH is the workspace’s, and not looked into',
    function()
      local machine = machines.new({ ctxls = false })
      machine.env.PATH = '.:' .. machine.env.PATH
      assert(vim.uv.fs_symlink(machines.ctxls, machine.project .. '/ctxls'))
      expect.holds(refused(machine), 'there is no ctxls on the PATH')
    end,
  },
  {
    'a server older than needed, and a newer one, are refused with what to do',
    function()
      local machine, path = with_script(greets('0', '0.1.0'))
      expect.same(
        refused(machine),
        path .. ' (version 0.1.0) speaks version 0 of the protocol, and this plugin version 1: update ctxls'
      )
      machine, path = with_script(greets('2', '9.0.0'))
      expect.same(
        refused(machine),
        path .. ' (version 9.0.0) speaks version 2 of the protocol, and this plugin version 1: update the plugin'
      )
      machine = with_script(greets('null', '0.0.1'))
      expect.holds(refused(machine), 'speaks version none of the protocol', 'update ctxls')
    end,
  },
  {
    'a program that is not ctxls is refused with its own last word',
    function()
      for script, why in pairs({
        ['echo "ctxls: the state is of a newer ctxls" >&2; exit 1'] = ': the state is of a newer ctxls',
        ['printf garbage'] = ': garbage',
        ['exit 3'] = ', with status 3',
      }) do
        local machine = with_script(script)
        expect.holds(refused(machine), 'ended before it answered' .. why)
      end
    end,
  },
  {
    'a server that dies is started again, and what it knew is there',
    function()
      local machine = machines.new()
      local editor = editors.start(machine)
      editor:running()
      machine:agent('aaaa-1111'):statusline(60000)
      editor:shows('30% · ~107k to compaction')
      local first = editor:lua("return require('ctxls.server').pid()")
      vim.uv.kill(first, 'sigkill')
      expect.eventually(function()
        local pid = editor:lua("return require('ctxls.server').pid()")
        return pid ~= vim.NIL and pid ~= first and editor:state().kind == 'running'
      end, nil, 'another server')
      machine:agent('aaaa-1111'):statusline(143912)
      editor:shows('! 72% · ~23k to compaction')
      expect.same(#machine:servers(), 1, 'processes')
      expect.holds(editor:lua("return table.concat(require('ctxls.log').lines(), '\\n')"), 'died with signal 9')
      expect.same(editor:messages(), '', 'messages')
    end,
  },
  {
    'a server that dies again and again is given up, after longer and longer pauses',
    function()
      local dying = 'read -r line; echo "ctxls: the disk is full" >&2; exit 4'
      local machine = with_script((greets('1', '1.0.0'):gsub('cat > /dev/null', dying)))
      local why, editor = refused(machine)
      expect.same(why, 'the server died 5 times in a short while, with status 4: the disk is full')
      local log = editor:lua("return table.concat(require('ctxls.log').lines(), '\\n')")
      expect.holds(log, 'again in 250 ms', 'again in 500 ms', 'again in 1000 ms', 'again in 2000 ms')
      expect.same(machine:servers(), {}, 'processes')
    end,
  },
  {
    ':Ctxls restart replaces the server, and there is never a second one',
    function()
      local machine = machines.new()
      local editor = editors.start(machine)
      editor:running()
      local first = editor:lua("return require('ctxls.server').pid()")
      editor:command('Ctxls restart')
      expect.eventually(function()
        assert(#machine:servers() <= 1, 'two servers at once')
        local pid = editor:lua("return require('ctxls.server').pid()")
        return pid ~= vim.NIL and pid ~= first and editor:state().kind == 'running'
      end, nil, 'another server')
      expect.same(lives(first), false, 'the first one lives')
      -- What is asked right after it waits for the new one.
      editor:lua("vim.cmd('Ctxls restart') vim.cmd('Ctxls sessions')")
      editor:says('no session is known in this project')
      expect.same(#machine:servers(), 1, 'processes')
    end,
  },
  {
    'a working directory that is gone is no reason not to start',
    function()
      local machine = machines.new()
      local editor = editors.start(machine)
      vim.fn.delete(machine.project, 'rf')
      editor:running()
      expect.same(editor:state().kind, 'running')
    end,
  },
  {
    'users’ LSP configuration sees nothing of it',
    function()
      local machine = machines.new()
      local editor = editors.start(machine)
      editor:running()
      expect.same(editor:lua('return #vim.lsp.get_clients()'), 0, 'LSP clients')
      expect.same(
        editor:lua([[
        local own = {}
        for _, scope in ipairs({ 'g', 'b', 'w', 't' }) do
          for name in pairs(vim.fn.eval(scope .. ':')) do
            if name:lower():find('ctxls') then table.insert(own, scope .. ':' .. name) end
          end
        end
        return own]]),
        {},
        'variables'
      )
    end,
  },
  {
    'no process is left after :qa!',
    function()
      goes_with(function(editor)
        vim.rpcnotify(editor.channel, 'nvim_command', 'qa!')
      end)
    end,
  },
  {
    'no process is left after SIGTERM',
    function()
      goes_with(function(editor)
        vim.uv.kill(editor.pid, 'sigterm')
      end)
    end,
  },
  {
    'no process is left after SIGKILL',
    function()
      goes_with(function(editor)
        vim.uv.kill(editor.pid, 'sigkill')
      end)
    end,
  },
  {
    'a server that says anything at all raises no error',
    function()
      local machine, path = with_script('')
      vim.fn.writefile(vim.split(hostile, '\n'), machine.home .. '/hostile.lua')
      vim.fn.writefile(
        { '#!/bin/sh', ('exec "%s" --clean -l "%s/hostile.lua"'):format(editors.program, machine.home) },
        path
      )
      local editor = editors.start(machine)
      editor:running()
      local before = 'what the server said cannot be '
      expect.eventually(function() -- the last word of each answer
        return table.concat(editor:lua("return require('ctxls.log').lines()"), '\n'):find('all was said', 1, true)
      end)
      expect.holds(
        table.concat(editor:lua("return require('ctxls.log').lines()"), '\n'),
        before .. 'used',
        before .. 'shown'
      )
      for _, command in ipairs({ 'Ctxls', 'Ctxls breakdown', 'Ctxls files', 'Ctxls history' }) do
        pcall(editor.command, editor, command)
      end
      editor:status()
      expect.same(editor:lua('return vim.v.errmsg'), '', 'errors')
      expect.lacks(editor:lua("return vim.fn.execute('messages')"), 'Error', 'stack traceback')
    end,
  },
  {
    'a server that writes a line without an end is ended',
    function()
      local machine = with_script('exec cat /dev/zero')
      local why = refused(machine)
      expect.holds(why, 'without an end')
    end,
  },
}

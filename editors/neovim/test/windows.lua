-- What differs on Windows: how the server is found, started and ended. The editor that runs this is itself under test:
-- nvim.exe -l test/run.lua test/windows.lua. CTXLS is the path of ctxls.exe.
local expect = require('lib.expect')

local plugin = vim.fs.dirname(vim.fs.dirname(vim.fs.normalize(vim.uv.fs_realpath(arg[0]))))
local home = vim.fn.tempname() .. '\\Ada Lovelace'
local copy = home .. '\\bin\\ctxls.exe'

vim.fn.mkdir(home .. '\\bin', 'p')
vim.fn.mkdir(home .. '\\проект', 'p')
vim.fn.mkdir(home .. '\\state', 'p')
assert(vim.uv.fs_copyfile(assert(vim.env.CTXLS, 'CTXLS names ctxls.exe'), copy))
vim.env.USERPROFILE, vim.env.LOCALAPPDATA, vim.env.APPDATA = home, home .. '\\state', home .. '\\state'
vim.opt.runtimepath:prepend(plugin)
vim.fn.chdir(home .. '\\проект')

local config = require('ctxls.config')
local program = require('ctxls.program')
local server = require('ctxls.server')
local path = vim.env.PATH

---Whether there is a process; on Windows a process that ended is none.
local function lives(pid)
  return vim.uv.kill(pid, 0) == 0
end

local function same_file(a, b)
  expect.same(vim.fs.normalize(a or ''), vim.fs.normalize(b))
end

return {
  {
    'ctxls.exe is found on the PATH, behind blanks, and never in a relative directory',
    function()
      vim.fn.writefile({ 'no program' }, home .. '\\ctxls')
      vim.env.PATH = table.concat({ '..\\bin', home, '', '\\\\server\\tools', home .. '\\bin', path }, ';')
      same_file(program.find(), copy)
      vim.env.PATH = '..\\bin;' .. home
      expect.same({ program.find() }, { nil, 'there is no ctxls on the PATH' })
    end,
  },
  {
    'the option path takes what is absolute on Windows',
    function()
      cleanup(function()
        config.options.path = ''
      end)
      for given, want in pairs({
        [copy] = copy,
        [copy:gsub('\\', '/')] = copy,
        ['~\\bin\\ctxls.exe'] = copy,
        ['bin\\ctxls.exe'] = 'the option path wants an absolute path, and is "bin\\ctxls.exe"',
        ['C:ctxls.exe'] = 'the option path wants an absolute path, and is "C:ctxls.exe"',
        ['\\\\server\\tools\\ctxls.exe'] = 'the option path names \\\\server\\tools\\ctxls.exe, and there is no such file',
      }) do
        config.options.path = given
        local found, why = program.find()
        if want == copy then
          same_file(found, copy)
        else
          expect.same(why, want)
        end
      end
    end,
  },
  {
    'a server starts, knows the sessions of the directory, and ends with the plugin',
    function()
      vim.env.PATH = home .. '\\bin;' .. path
      local cwd = vim.fn.getcwd():gsub('\\', '\\\\')
      local prompt = ('{"event": "usage/reported", "sessionId": "s1", "model": "gpt-5.2", "tokens": 90000, "cwd": "%s"}'):format(
        cwd
      )
      local hook = vim.system({ copy, 'hook', 'generic' }, { stdin = prompt, env = { CTXLS_WAIT = '10000' } }):wait()
      expect.same({ hook.code, hook.stderr }, { 0, '' }, 'the hook')
      server.start()
      expect.eventually(function()
        return server.state().kind
      end, 'running', 'the server')
      local pid, listed = assert(server.pid()), nil
      server.request('session/list', { scope = 'workspace' }, function(why, result)
        listed = why or result.sessions
      end)
      expect.eventually(function()
        return listed
      end)
      expect.same(vim.tbl_get(listed, 1, 'sessionId'), 's1', 'the session')
      server.exit()
      expect.eventually(function()
        return lives(pid)
      end, false, 'the server lives')
    end,
  },
  {
    'a server ends with an editor that is killed',
    function()
      local said = ''
      local script = home .. '\\editor.lua'
      vim.fn.writefile({
        'vim.opt.runtimepath:prepend([[' .. plugin .. ']])',
        "local server = require('ctxls.server')",
        'server.start()',
        "vim.wait(30000, function() return server.state().kind == 'running' end)",
        "io.stdout:write('server ' .. server.pid() .. '\\n')",
        'io.stdout:flush()',
        'vim.wait(600000, function() end)',
      }, script)
      local child = vim.system({ vim.v.progpath, '--clean', '-l', script }, {
        stdout = function(_, data)
          said = said .. (data or '')
        end,
      })
      cleanup(function()
        child:kill('sigkill')
      end)
      local pid = tonumber(expect.eventually(function()
        return said:match('server (%d+)\r?\n')
      end))
      expect.same(lives(pid), true, 'the server lives')
      child:kill('sigkill')
      expect.eventually(function()
        return lives(pid)
      end, false, 'the server lives')
    end,
  },
}

-- :checkhealth ctxls: each failure with advice.
local editors = require('lib.editor')
local expect = require('lib.expect')
local machines = require('lib.machine')

local function check(editor)
  editor:command('checkhealth ctxls')
  local text = editor:lua("return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')")
  editor:command('bwipeout!')
  return (text:gsub('[^%w%p%s]', '')) -- signs differ between versions
end

return {
  {
    'all is well where hooks are installed',
    function()
      local machine = machines.new()
      machine:run({ 'install', 'claude-code' })
      machine:agent('aaaa-1111'):statusline(60000)
      local version = machine:run({ 'version' }):match('^ctxls (%S+) ') -- how the checkout was stamped is its own affair
      local said = check(editors.start(machine))
      expect.holds(
        said,
        'OK ' .. machine.bin .. '/ctxls',
        'OK version ' .. version,
        'answers within',
        'OK sessions known in this project: 1',
        'OK claude-code: installed (user)',
        'codex: not installed',
        'OK ' .. machine.home .. '/.local/state/ctxls/state.db'
      )
      expect.lacks(said, 'ERROR', 'WARNING')
    end,
  },
  {
    'nothing is installed: what to do',
    function()
      local machine = machines.new()
      local said = check(editors.start(machine))
      expect.holds(said, 'no hooks are installed', ':Ctxls install')
      expect.lacks(said, 'WARNING')
      expect.holds(said, 'no session is known in this project yet')
    end,
  },
  {
    'no program, one that is not ctxls, one that is too old: what to do',
    function()
      local machine = machines.new({ ctxls = false })
      local editor = editors.start(machine)
      expect.holds(check(editor), 'ERROR there is no ctxls on the PATH', 'setup({ path = ')
      local path = machine.bin .. '/ctxls'
      local function script(...)
        vim.fn.writefile({ '#!/bin/sh', ... }, path)
        assert(vim.uv.fs_chmod(path, 493))
      end
      script('echo hello')
      expect.holds(check(editor), 'ERROR it is not ctxls: asked for its version it said "hello"')
      script(
        '[ "$1" = serve ] || { echo "ctxls 0.1.0 linux"; exit; }',
        'read -r line',
        [[echo '{"jsonrpc":"2.0","id":1,"result":{"serverInfo":{"version":"0.1.0"}}}']],
        'cat > /dev/null'
      )
      editor:command('Ctxls restart')
      expect.holds(
        check(editor),
        'OK version 0.1.0',
        'speaks version none of the protocol',
        'update ctxls',
        ':Ctxls log'
      )
    end,
  },
  {
    'hooks of another ctxls, and settings that cannot be read, are told apart',
    function()
      local machine = machines.new()
      vim.fn.mkdir(machine.home .. '/other')
      assert(vim.uv.fs_copyfile(machines.ctxls, machine.home .. '/other/ctxls'))
      local other = vim.system(
        { machine.home .. '/other/ctxls', 'install', 'claude-code' },
        { env = machine.env, clear_env = true }
      )
      expect.same(other:wait().code, 0, 'status')
      vim.fn.mkdir(machine.home .. '/.codex')
      vim.fn.writefile({ '{"hooks": 3' }, machine.home .. '/.codex/hooks.json')
      local said = check(editors.start(machine))
      expect.holds(said, 'WARNING claude-code (user) runs another ctxls', ':Ctxls install claude-code --user')
      expect.holds(said, 'WARNING codex (user): ', 'hooks.json')
    end,
  },
}

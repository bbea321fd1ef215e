-- :checkhealth ctxls
local M = {}

---The longest wait for the server or a program, in milliseconds.
local timeout = 10 * 1000

---Calls an asynchronous function and waits for its callback.
---@param call fun(done: fun(...))
---@return ... the arguments of the callback; an error if it was not called in time
local function wait(call)
  local results
  call(function(...)
    results = { n = select('#', ...), ... }
  end)
  vim.wait(timeout, function()
    return results ~= nil
  end, 10)
  if results then
    return unpack(results, 1, results.n)
  end
  return 'no answer within ' .. timeout / 1000 .. ' s'
end

local install_advice = {
  'Install ctxls into a directory of the PATH of Neovim, which :echo $PATH shows',
  "Or set its path: require('ctxls').setup({ path = '/absolute/path/of/ctxls' })",
}

local function neovim()
  local health, version = vim.health, vim.version()
  health.start('Neovim')
  health.ok(('%d.%d.%d'):format(version.major, version.minor, version.patch))
end

---@return boolean usable
local function binary()
  local health, program = vim.health, require('ctxls.program')
  health.start('The program')
  local path, why = program.find()
  if not path then
    health.error(why, install_advice)
    return false
  end
  health.ok(path)
  local problem, said = wait(function(done)
    program.run({ 'version' }, done)
  end)
  local version = said and said:match('^ctxls (%S+) ')
  if version then
    health.ok('version ' .. version)
    return true
  elseif said then
    problem = ('it is not ctxls: asked for its version it said "%s"'):format(vim.trim(said):sub(1, 80))
  end
  health.error(problem, install_advice)
  return false
end

local function server()
  local health, client = vim.health, require('ctxls.server')
  health.start('The server')
  local why = wait(client.when_running)
  if why then
    health.error(why, { 'Read the log: :Ctxls log', 'Restart the server: :Ctxls restart' })
    return
  end
  local sent = vim.uv.hrtime()
  local problem, result = wait(function(done)
    client.request('session/list', {}, done)
  end)
  if problem then
    health.error(problem, { 'Read the log: :Ctxls log', 'Restart the server: :Ctxls restart' })
    return
  end
  health.ok(('process %d answers within %.0f ms'):format(client.pid(), math.ceil((vim.uv.hrtime() - sent) / 1e6)))
  if #result.sessions > 0 then
    health.ok(('sessions known in this project: %d'):format(#result.sessions))
  else
    health.info('no session is known in this project yet')
  end
end

---Returns whether the hooks of a host are installed, judged by what an installation would change.
---@param why? string
---@param preview? string
local function installed(why, preview)
  if why then
    return 'unknown'
  elseif vim.startswith(preview, 'nothing to do') then
    return 'yes'
  end
  return ('\n' .. preview):find('\n%-[^-][^\n]*ctxls') and 'other' or 'no'
end

local function hooks()
  local health, program = vim.health, require('ctxls.program')
  health.start('Hooks')
  local why, hosts = wait(require('ctxls.install').hosts)
  if why then
    health.error(why)
    return
  end
  local some = false
  for _, host in ipairs(hosts) do
    local places, asked = {}, 0
    wait(function(done)
      for _, scope in ipairs(host.scopes) do
        local flag = #host.scopes > 1 and { '--' .. scope } or {}
        program.run(vim.list_extend({ 'install', host.host, '--dry-run' }, flag), function(problem, preview)
          asked = asked + 1
          local state = installed(problem, preview)
          local install = ('Install them again: :Ctxls install %s --%s'):format(host.host, scope)
          if state == 'yes' then
            places[#places + 1] = scope
          elseif state == 'other' then
            some = true
            health.warn(('%s (%s) runs another ctxls, or not all hooks'):format(host.host, scope), { install })
          elseif state == 'unknown' then
            health.warn(('%s (%s): %s'):format(host.host, scope, problem))
          end
          if asked == #host.scopes then
            done()
          end
        end)
      end
    end)
    table.sort(places)
    if #places > 0 then
      some = true
      health.ok(('%s: installed (%s)'):format(host.host, table.concat(places, ', ')))
    else
      health.info(('%s: not installed'):format(host.host))
    end
  end
  if not some then
    health.info('no hooks are installed. The gauge works without; with hooks, agents know it too: :Ctxls install')
  end
end

local function state()
  local health = vim.health
  health.start('The state')
  local why, said = wait(function(done)
    require('ctxls.program').run({ 'config', 'path' }, done)
  end)
  local path = said and said:match('\nstate%s+([^\n]+)')
  if not path then
    health.error(why or 'ctxls config path did not name the state file')
    return
  end
  local dir = vim.fs.dirname(path)
  if not vim.uv.fs_stat(path) then
    health.info(path .. ' does not exist yet: the first session creates it')
  elseif vim.uv.fs_access(path, 'W') and vim.uv.fs_access(dir, 'W') then
    health.ok(path)
  else
    health.error(path .. ' is not writable', { 'Make yourself the owner: chown -R "$USER" ' .. dir })
  end
  local problem = wait(function(done)
    require('ctxls.program').run({ 'config', 'check' }, done)
  end)
  if problem then
    health.warn('settings: ' .. problem, { 'List the files of the settings: ctxls config path' })
  end
end

function M.check()
  if vim.fn.has('nvim-0.10') == 0 then
    require('health').report_error(require('ctxls.old').why)
    return
  end
  require('ctxls.status')
  neovim()
  if binary() then
    server()
    hooks()
    state()
  end
end

return M

-- Starts, restarts and stops the server. An editor runs at most one. It starts when it is first needed.
local config = require('ctxls.config')
local log = require('ctxls.log')
local program = require('ctxls.program')
local project = require('ctxls.project')
local rpc = require('ctxls.rpc')

local M = {}

---The version of the protocol that this plugin speaks.
M.protocol_version = 1

---@class ctxls.State
---@field kind 'stopped'|'starting'|'running'|'reviving'|'failed'
---@field path? string the program
---@field version? string what it says its version is
---@field why? string of a failure, for people

---A server that dies more often than `most` within `within` milliseconds is not restarted.
local restarts = { most = 4, within = 180 * 1000 }

---The delay before the first restart, in milliseconds. It doubles with each further death.
local restart_delay = 250

---The longest wait for the answer to initialize, and for the end of the process, in milliseconds.
local timeout = { start = 20 * 1000, stop = 2 * 1000 }

---@type ctxls.State
local state = { kind = 'stopped' }
---@type ctxls.Connection?
local connection
---What to do after the end of the process; nil if it was not asked to end.
---@type 'stop'|'start'|nil
local after_exit
---@type ctxls.State? the state after the end of a process that cannot be used
local rejected
---@type number[] when servers died, in milliseconds of vim.uv.now()
local deaths = {}
local exiting = false
---@type string? the project of which the server knows
local folder
---@type ctxls.Options? the options that the server was started with
local started_with

---@type table<string, fun(params: table)[]>
local listeners = {}
---@type (fun(state: ctxls.State): boolean?)[]
local watchers = {}

---@param new ctxls.State
local function set_state(new)
  state = new
  watchers = vim.tbl_filter(function(watch)
    return watch(new) ~= true
  end, watchers)
end

local function fail(why)
  log.add('ERROR', why)
  set_state({ kind = 'failed', why = why, path = state.path, version = state.version })
end

local function settings()
  return next(config.options.config) and config.options.config or vim.empty_dict()
end

---Ends a process that cannot be used, and then fails with the reason.
---@param why string
local function reject(why)
  rejected = { kind = 'failed', why = why, path = state.path, version = state.version }
  after_exit = 'stop'
  connection:close(timeout.stop)
end

local function initialized(error, result)
  if after_exit then
    return -- it was asked to end
  elseif error then
    if connection and error.message ~= 'the server is gone' then
      reject(('%s did not answer as a server does: %s'):format(state.path, error.message))
    end
    return
  end
  local info = result.serverInfo or {}
  local ours = vim.tbl_get(result, 'capabilities', 'experimental', 'ctxls') or {}
  state.version = info.version or '?'
  if ours.protocolVersion ~= M.protocol_version then
    local update = (ours.protocolVersion or 0) > M.protocol_version and 'the plugin' or 'ctxls'
    reject(
      ('%s (version %s) speaks version %s of the protocol, and this plugin version %d: update %s'):format(
        state.path,
        state.version,
        ours.protocolVersion or 'none',
        M.protocol_version,
        update
      )
    )
    return
  end
  connection:notify('initialized', vim.empty_dict())
  log.add('INFO', ('%s runs, version %s, process %d'):format(state.path, state.version, connection.pid))
  state = { kind = 'running', path = state.path, version = state.version }
  -- Tell it first what changed while it started.
  M.follow()
  if config.options ~= started_with then
    M.configure()
  end
  set_state(state)
end

local start_process

---Restarts the server after its death, unless it dies too often.
local function revive(code, signal)
  local now = vim.uv.now()
  deaths = vim.tbl_filter(function(at)
    return now - at < restarts.within
  end, deaths)
  deaths[#deaths + 1] = now
  local how = signal ~= 0 and 'signal ' .. signal or 'status ' .. code
  if #deaths > restarts.most then
    local last = log.last_word()
    fail(('the server died %d times in a short while, with %s%s'):format(#deaths, how, last and ': ' .. last or ''))
    return
  end
  local wait = restart_delay * 2 ^ (#deaths - 1)
  log.add('WARN', ('the server died with %s and is started again in %d ms'):format(how, wait))
  local reviving = { kind = 'reviving', path = state.path, version = state.version }
  set_state(reviving)
  vim.defer_fn(function()
    if state == reviving and not exiting then
      start_process()
    end
  end, wait)
end

local function ended(code, signal)
  local next_step, failed = after_exit, rejected
  connection, after_exit, rejected = nil, nil, nil
  if exiting then
    return
  elseif next_step == 'start' then
    start_process()
  elseif failed then
    fail(failed.why)
  elseif next_step == 'stop' then
    set_state({ kind = 'stopped' })
  elseif state.kind == 'starting' and #deaths == 0 then
    local last = log.last_word()
    fail(('%s ended before it answered%s'):format(state.path, last and ': ' .. last or ', with status ' .. code))
  else
    revive(code, signal)
  end
end

start_process = function()
  local path, why = program.find()
  if not path then
    state = { kind = 'stopped' }
    fail(why)
    return
  end
  log.listen()
  folder, started_with = project.root(), config.options
  set_state({ kind = 'starting', path = path })
  local started
  started, why = rpc.start(
    { path, 'serve', '--stdio', '--framing=line' },
    vim.uv.fs_stat(folder) and folder or vim.uv.os_homedir(),
    {
      notification = function(method, params)
        for _, listen in ipairs(listeners[method] or {}) do
          listen(params)
        end
      end,
      said = log.said,
      ended = ended,
    }
  )
  if not started then
    fail(('%s could not be run: %s'):format(path, why))
    return
  end
  connection = started
  local version = vim.version()
  connection:request('initialize', {
    processId = vim.fn.getpid(),
    clientInfo = { name = 'nvim', version = ('%d.%d.%d'):format(version.major, version.minor, version.patch) },
    capabilities = vim.empty_dict(),
    workspaceFolders = { project.as_folder(folder) },
    initializationOptions = { config = settings(), sessions = config.options.sessions },
  }, initialized)
  vim.defer_fn(function()
    if connection == started and state.kind == 'starting' and not after_exit then
      reject(path .. ' did not answer')
    end
  end, timeout.start)
end

---@return ctxls.State
function M.state()
  return state
end

---The process, where there is one.
---@return integer?
function M.pid()
  return connection and connection.pid
end

---Starts the server where none was started yet. It answers later.
function M.start()
  if state.kind == 'stopped' and not connection and not exiting then
    start_process()
  end
end

---Starts the server, in place of the one that runs. Earlier deaths no longer count.
function M.restart()
  deaths = {}
  if connection then
    after_exit, rejected = 'start', nil
    connection:close(timeout.stop)
    set_state({ kind = 'starting', path = state.path }) -- callers of when_running() wait for the next one
  elseif not exiting then
    start_process()
  end
end

---Stops the server for good, when the editor exits.
function M.exit()
  exiting = true
  if connection then
    connection:close(timeout.stop)
  end
end

---Sends a request. The answer comes later; without a running server it is an error.
---@param method string
---@param params table
---@param answer fun(why: string?, result: any)
function M.request(method, params, answer)
  if state.kind ~= 'running' or not connection then
    answer(state.kind == 'failed' and state.why or 'the server is not running')
    return
  end
  connection:request(method, params, function(error, result)
    answer(error and error.message, result)
  end)
end

---Starts the server if it was not started yet, and calls a function when it runs or has failed.
---@param run fun(why: string?)
function M.when_running(run)
  M.start()
  if state.kind == 'running' then
    run()
  elseif state.kind == 'failed' or state.kind == 'stopped' then
    run(state.why or 'the server is not running')
  else
    local done = false
    M.watch(function(new)
      if not done and (new.kind == 'running' or new.kind == 'failed' or new.kind == 'stopped') then
        done = true
        run(new.kind ~= 'running' and (new.why or 'the server is not running') or nil)
      end
      return done
    end)
  end
end

---Calls a function for each notification of a method, of all servers that are started from now on.
---@param method string
---@param listen fun(params: table)
function M.on(method, listen)
  listeners[method] = listeners[method] or {}
  table.insert(listeners[method], listen)
end

---Calls a function with each new state of the server, until it returns true.
---@param watch fun(state: ctxls.State): boolean?
function M.watch(watch)
  table.insert(watchers, watch)
end

---Tells the server of a new working directory. A server that still starts is told when it runs.
---@return boolean moved
function M.follow()
  local now = project.root()
  if state.kind ~= 'running' or not connection or now == folder then
    return false
  end
  local event = { added = { project.as_folder(now) }, removed = { project.as_folder(folder) } }
  folder = now
  connection:notify('workspace/didChangeWorkspaceFolders', { event = event })
  return true
end

---Sends the current settings to the server.
function M.configure()
  connection:notify('workspace/didChangeConfiguration', { settings = { ctxls = settings() } })
end

---Options of which a change needs another server.
local applied = { path = '', sessions = 'workspace' }

---Applies changed options: sends them to the server, or starts another one.
function M.reconfigure()
  local options = config.options
  local restart = options.path ~= applied.path or options.sessions ~= applied.sessions
  applied = { path = options.path, sessions = options.sessions }
  if state.kind == 'stopped' then
    return
  elseif restart or state.kind == 'failed' then
    M.restart()
  elseif state.kind == 'running' and connection then
    M.configure()
    if M.follow() then
      set_state(state) -- so that the sessions of the new directory are asked for
    end
  end
end

M.on('window/logMessage', function(params)
  local names = { 'ERROR', 'WARN', 'INFO', 'DEBUG' }
  log.add(names[params.type] or 'INFO', tostring(params.message))
end)

return M

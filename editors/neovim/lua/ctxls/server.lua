-- The life of the server: at most one an editor, started when it is first needed and again when it dies.
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

---So many deaths within so many milliseconds are taken for a fault that a further start does not mend.
local deaths = { most = 4, within = 180 * 1000 }

---How long to wait before the first start after a death, in milliseconds; twice as long after each further one.
local pause = 250

---How long the server may take to answer initialize, and to end, in milliseconds.
local patience = { start = 20 * 1000, stop = 2 * 1000 }

---@type ctxls.State
local state = { kind = 'stopped' }
---@type ctxls.Connection?
local connection
---What the end of the process is followed by, where somebody asked for it.
---@type 'stop'|'start'|nil
local intent
---@type ctxls.State? what becomes of it when it is stopped since it cannot be used
local verdict
---@type number[]
local died = {}
local leaving = false
---@type string?
local folder
---@type ctxls.Options? those that the server was started with
local asked_with

---@type table<string, fun(params: table)[]>
local listeners = {}
---@type (fun(state: ctxls.State): boolean?)[]
local watchers = {}

---@param new ctxls.State
local function become(new)
  state = new
  watchers = vim.tbl_filter(function(watch)
    return watch(new) ~= true
  end, watchers)
end

local function fail(why)
  log.add('ERROR', why)
  become({ kind = 'failed', why = why, path = state.path, version = state.version })
end

local function settings()
  return next(config.options.config) and config.options.config or vim.empty_dict()
end

---@param why string
local function give_up(why)
  verdict = { kind = 'failed', why = why, path = state.path, version = state.version }
  intent = 'stop'
  connection:close(patience.stop)
end

local function greeted(error, result)
  if intent then
    return -- it is on its way out
  elseif error then
    if connection and error.message ~= 'the server is gone' then
      give_up(('%s did not answer as a server does: %s'):format(state.path, error.message))
    end
    return
  end
  local info = result.serverInfo or {}
  local ours = vim.tbl_get(result, 'capabilities', 'experimental', 'ctxls') or {}
  state.version = info.version or '?'
  if ours.protocolVersion ~= M.protocol_version then
    local update = (ours.protocolVersion or 0) > M.protocol_version and 'the plugin' or 'ctxls'
    give_up(
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
  -- What changed while it started comes before the first question.
  M.follow()
  if config.options ~= asked_with then
    M.configure()
  end
  become(state)
end

local begin

---Starts the server again after its death, unless it dies too often.
local function revive(code, signal)
  local now = vim.uv.now()
  died = vim.tbl_filter(function(at)
    return now - at < deaths.within
  end, died)
  died[#died + 1] = now
  local how = signal ~= 0 and 'signal ' .. signal or 'status ' .. code
  if #died > deaths.most then
    local word = log.last_word()
    fail(('the server died %d times in a short while, with %s%s'):format(#died, how, word and ': ' .. word or ''))
    return
  end
  local wait = pause * 2 ^ (#died - 1)
  log.add('WARN', ('the server died with %s and is started again in %d ms'):format(how, wait))
  local reviving = { kind = 'reviving', path = state.path, version = state.version }
  become(reviving)
  vim.defer_fn(function()
    if state == reviving and not leaving then
      begin()
    end
  end, wait)
end

local function ended(code, signal)
  local next_step, conclusion = intent, verdict
  connection, intent, verdict = nil, nil, nil
  if leaving then
    return
  elseif next_step == 'start' then
    begin()
  elseif conclusion then
    fail(conclusion.why)
  elseif next_step == 'stop' then
    become({ kind = 'stopped' })
  elseif state.kind == 'starting' and #died == 0 then
    local word = log.last_word()
    fail(('%s ended before it answered%s'):format(state.path, word and ': ' .. word or ', with status ' .. code))
  else
    revive(code, signal)
  end
end

begin = function()
  local path, why = program.find()
  if not path then
    state = { kind = 'stopped' }
    fail(why)
    return
  end
  log.listen()
  folder, asked_with = project.root(), config.options
  become({ kind = 'starting', path = path })
  local mine
  mine, why = rpc.start(
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
  if not mine then
    fail(('%s could not be run: %s'):format(path, why))
    return
  end
  connection = mine
  local version = vim.version()
  connection:request('initialize', {
    processId = vim.fn.getpid(),
    clientInfo = { name = 'nvim', version = ('%d.%d.%d'):format(version.major, version.minor, version.patch) },
    capabilities = vim.empty_dict(),
    workspaceFolders = { project.as_folder(folder) },
    initializationOptions = { config = settings(), sessions = config.options.sessions },
  }, greeted)
  vim.defer_fn(function()
    if connection == mine and state.kind == 'starting' and not intent then
      give_up(path .. ' did not answer')
    end
  end, patience.start)
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
  if state.kind == 'stopped' and not connection and not leaving then
    begin()
  end
end

---Starts the server, in place of the one that runs. A person who asks for it is not refused for past deaths.
function M.restart()
  died = {}
  if connection then
    intent, verdict = 'start', nil
    connection:close(patience.stop)
    become({ kind = 'starting', path = state.path }) -- whoever waits for a server waits for the next one
  elseif not leaving then
    begin()
  end
end

---Stops it for good: the editor ends.
function M.leave()
  leaving = true
  if connection then
    connection:close(patience.stop)
  end
end

---Asks the server; the answer comes later. Where none runs it is an error.
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

---Waits until the server runs, or cannot: starts it where it was not yet.
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

---Listens to a notification of every server that is started from now on.
---@param method string
---@param listen fun(params: table)
function M.on(method, listen)
  listeners[method] = listeners[method] or {}
  table.insert(listeners[method], listen)
end

---Is told of every state that the server comes into, until it returns true.
---@param watch fun(state: ctxls.State): boolean?
function M.watch(watch)
  table.insert(watchers, watch)
end

---Follows the working directory. A server that is not there yet is told when it is.
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

---Tells the server the settings that are in force.
function M.configure()
  connection:notify('workspace/didChangeConfiguration', { settings = { ctxls = settings() } })
end

local in_force = { path = '', sessions = 'workspace' }

---Takes options over that changed: by telling the server, or by starting another.
function M.reconfigure()
  local options = config.options
  local anew = options.path ~= in_force.path or options.sessions ~= in_force.sessions
  in_force = { path = options.path, sessions = options.sessions }
  if state.kind == 'stopped' then
    return
  elseif anew or state.kind == 'failed' then
    M.restart()
  elseif state.kind == 'running' and connection then
    M.configure()
    if M.follow() then
      become(state) -- so that the sessions there are asked for
    end
  end
end

M.on('window/logMessage', function(params)
  local names = { 'ERROR', 'WARN', 'INFO', 'DEBUG' }
  log.add(names[params.type] or 'INFO', tostring(params.message))
end)

return M

-- The sessions that this editor shows, and the one that the statusline shows.
local server = require('ctxls.server')
local text = require('ctxls.text')

local M = {}

---@class ctxls.Change
---@field before? ctxls.Session nil of a new one
---@field now? ctxls.Session nil of one that is gone

---@type table<string, ctxls.Session>
local all = {}
---@type integer? how many sessions the server keeps
local most
---@type ctxls.Session[]? the sorted list; nil where a change made it out of date
local sorted
---@type string?
local pinned
---@type (fun(changes: ctxls.Change[]): boolean?)[]
local watchers = {}

---Changes that wait to be told.
---@type ctxls.Change[]
local pending = {}
local scheduled = false

local function flush()
  scheduled = false
  local changes = pending
  pending = {}
  watchers = vim.tbl_filter(function(watch)
    return watch(changes) ~= true
  end, watchers)
end

---Tells of changes, of those together that come within one turn of the event loop: a server that starts sends every session.
---@param changes ctxls.Change[]
local function tell(changes)
  vim.list_extend(pending, changes)
  sorted = nil
  if not scheduled then
    scheduled = true
    vim.schedule(flush)
  end
end

---Names a session among those of all hosts.
---@param s {host: string, sessionId: string}
---@return string
function M.key(s)
  return s.host .. '/' .. s.sessionId
end

---Calls a function after sessions changed, or after another one is shown, until it returns true.
---@param watch fun(changes: ctxls.Change[]): boolean?
function M.watch(watch)
  table.insert(watchers, watch)
end

---Returns the sessions that have not ended, the most recently updated first.
---@return ctxls.Session[]
function M.list()
  if sorted then
    return sorted
  end
  local list, times = vim.tbl_values(all), {}
  for _, s in ipairs(list) do
    times[s] = text.time(s.updatedAt)
  end
  table.sort(list, function(a, b)
    if times[a] == times[b] then
      return M.key(a) < M.key(b)
    end
    return times[a] > times[b]
  end)
  sorted = list
  return list
end

---@param key string
---@return ctxls.Session?
function M.get(key)
  return all[key]
end

---@return ctxls.Session?
function M.pinned()
  return pinned and all[pinned]
end

---@return ctxls.Session?
function M.shown()
  local session = M.pinned()
  if session then
    return session
  end
  for _, s in ipairs(M.list()) do
    if s.state == 'active' then
      return s
    end
  end
end

---@param key? string
function M.pin(key)
  pinned = key
  tell({})
end

---Whether a session has the shape that it has in the protocol: who does not speak it may say anything.
local function usable(s)
  if type(s) ~= 'table' or type(s.usage) ~= 'table' or type(s.usage.display) ~= 'table' then
    return false
  end
  for _, name in ipairs({ 'host', 'sessionId', 'cwd', 'title', 'model', 'state', 'updatedAt' }) do
    if type(s[name]) ~= 'string' then
      return false
    end
  end
  return true
end

---@param sessions ctxls.Session[]
---@param changes ctxls.Change[]
local function set(sessions, changes)
  for _, now in ipairs(sessions) do
    local key = M.key(now)
    local lives = now.state ~= 'ended' and now or nil
    changes[#changes + 1] = { before = all[key], now = lives }
    all[key] = lives
  end
  tell(changes)
end

---@param sessions ctxls.Session[]
local function replace(sessions)
  local there, changes = {}, {}
  for _, s in ipairs(sessions) do
    there[M.key(s)] = true
  end
  for key, before in pairs(all) do
    if not there[key] then
      changes[#changes + 1] = { before = before }
    end
  end
  for _, change in ipairs(changes) do
    all[M.key(change.before)] = nil
  end
  set(sessions, changes)
end

---Says that older sessions are forgotten, where there are nearly as many as the server keeps: ended ones, and those elsewhere,
---count too.
---@return string? note
function M.note()
  if most and vim.tbl_count(all) >= 0.9 * most then
    return ('the %s last active sessions are kept; older ones are forgotten (store.maxSessions)'):format(
      text.exactly(most)
    )
  end
end

---Asks the server for all sessions.
---@param done? fun(why: string?)
function M.refresh(done)
  server.request('session/list', {}, function(why, result)
    if not why then
      replace(vim.tbl_filter(usable, result.sessions))
      most = result.maxSessions
    end
    if done then
      done(why)
    end
  end)
end

---Starts the server where none runs, asks it for all sessions, then calls a function.
---@param done fun(why: string?)
function M.fresh(done)
  server.when_running(function(why)
    if why then
      done(why)
    else
      M.refresh(done)
    end
  end)
end

---Asks for the points of a session's history.
---@param s {host: string, sessionId: string}
---@param done fun(why: string?, samples: ctxls.Sample[]?)
function M.history(s, done)
  server.request('session/history', { host = s.host, sessionId = s.sessionId }, function(why, result)
    done(why, result and result.samples)
  end)
end

---Asks for what fills a session's window.
---@param s {host: string, sessionId: string}
---@param done fun(why: string?, breakdown: ctxls.Breakdown?)
function M.breakdown(s, done)
  local params = { host = s.host, sessionId = s.sessionId, breakdown = true }
  server.request('session/get', params, function(why, result)
    done(why, result and result.breakdown)
  end)
end

server.on('session/changed', function(params)
  set(vim.tbl_filter(usable, { params.session }), {})
end)

server.on('session/removed', function(gone)
  local key = M.key(gone)
  local before = all[key]
  if before then
    all[key] = nil
    tell({ { before = before } })
  end
end)

server.watch(function(state)
  if state.kind == 'running' then
    M.refresh()
  elseif state.kind == 'failed' then
    replace({}) -- better none than one that may be wrong
  end
end)

return M

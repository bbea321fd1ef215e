-- The sessions that this editor shows, and which of them the statusline does.
local server = require('ctxls.server')
local text = require('ctxls.text')

local M = {}

---@class ctxls.Change
---@field before? ctxls.Session nil of a new one
---@field now? ctxls.Session nil of one that is gone

---@type table<string, ctxls.Session>
local all = {}
---@type string?
local pinned
---@type (fun(changes: ctxls.Change[]): boolean?)[]
local watchers = {}

local function tell(changes)
  watchers = vim.tbl_filter(function(watch)
    return watch(changes) ~= true
  end, watchers)
end

---Names a session among those of all hosts.
---@param s {host: string, sessionId: string}
---@return string
function M.key(s)
  return s.host .. '/' .. s.sessionId
end

---Is told after sessions changed, or which one is shown, until it returns true.
---@param watch fun(changes: ctxls.Change[]): boolean?
function M.watch(watch)
  table.insert(watchers, watch)
end

---Those that have not ended, the most recently updated first.
---@return ctxls.Session[]
function M.list()
  local list = vim.tbl_values(all)
  table.sort(list, function(a, b)
    local first, second = text.time(a.updatedAt), text.time(b.updatedAt)
    if first == second then
      return M.key(a) < M.key(b)
    end
    return first > second
  end)
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

---Asks for all of them anew.
---@param done? fun(why: string?)
function M.refresh(done)
  server.request('session/list', {}, function(why, result)
    if not why then
      replace(result.sessions)
    end
    if done then
      done(why)
    end
  end)
end

---Calls once the server has told of all of them; starts it where it was not yet.
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

server.on('session/changed', function(params)
  set({ params.session }, {})
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

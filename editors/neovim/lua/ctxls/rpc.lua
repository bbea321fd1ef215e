-- The wire: JSON-RPC with a running process, one message a line.
local M = {}

---@class ctxls.Connection
---@field pid integer
---@field private process vim.SystemObj
---@field private waiting table<integer, fun(error: table?, result: any)>
---@field private id integer
---@field private closed boolean
local Connection = {}
Connection.__index = Connection

---The longest line that is taken, in bytes. All sessions of the largest state are a third of that.
local longest = 64 * 2 ^ 20

---@class ctxls.Listener
---@field notification fun(method: string, params: table) what the server tells
---@field said fun(line: string) a line of its standard error, or one of its output that is no message; in a callback of libuv
---@field ended fun(code: integer, signal: integer) the process is gone; called once

---Calls take with each line of what comes in pieces, and endless once a line is longer than any message.
local function lines(take, endless)
  local rest, size = {}, 0
  return function(_, data)
    if not data then
      if size > 0 then
        take(table.concat(rest))
        rest = {}
      end
      return
    end
    local from = 1
    while size >= 0 do
      local to = data:find('\n', from, true)
      if not to then
        break
      end
      rest[#rest + 1] = data:sub(from, to - 1)
      take(table.concat(rest))
      rest, size, from = {}, 0, to + 1
    end
    if size >= 0 and from <= #data then
      rest[#rest + 1], size = data:sub(from), size + #data - from + 1
    end
    if size > longest then
      rest, size = {}, -math.huge -- what else comes until it is gone is not heard
      endless()
    end
  end
end

---Starts a program that speaks JSON-RPC.
---@param command string[]
---@param cwd string
---@param listener ctxls.Listener
---@return ctxls.Connection? connection
---@return string? why it could not be started
function M.start(command, cwd, listener)
  local self = setmetatable({ waiting = {}, id = 0, closed = false }, Connection)
  local hear = vim.schedule_wrap(function(message)
    local fine, problem = pcall(self.hear, self, message, listener)
    if not fine then -- another program than ctxls, or a newer one
      listener.said('what the server said cannot be used: ' .. tostring(problem))
    end
  end)
  local function endless()
    listener.said('the server wrote a line without an end')
    self.process:kill('sigkill')
  end
  local started, process = pcall(vim.system, command, {
    cwd = cwd,
    stdin = true,
    stdout = lines(function(line)
      -- null is nil: what is not known is not there.
      local decoded, message = pcall(vim.json.decode, line, { luanil = { object = true, array = true } })
      if decoded and type(message) == 'table' then
        hear(message)
      else
        listener.said(line)
      end
    end, endless),
    stderr = lines(listener.said, endless),
  }, function(result)
    self.closed = true
    vim.schedule(function()
      for id in pairs(self.waiting) do
        self:hear({ id = id, error = { code = 0, message = 'the server is gone' } }, listener)
      end
      listener.ended(result.code, result.signal)
    end)
  end)
  if not started then
    return nil, (tostring(process):gsub('^.-%.lua:%d+: ', ''))
  end
  self.process, self.pid = process, process.pid
  return self
end

---@private
function Connection:hear(message, listener)
  if message.method then
    listener.notification(message.method, message.params or {})
    return
  end
  local answer = message.id and self.waiting[message.id]
  if answer then
    self.waiting[message.id] = nil
    answer(message.error, message.result)
  end
end

---@private
function Connection:send(message)
  message.jsonrpc = '2.0'
  -- A process that has just died takes no more; that it is gone is told by its end.
  pcall(self.process.write, self.process, vim.json.encode(message) .. '\n')
end

---Asks. The answer comes later and always: an error where the process ends before.
---@param method string
---@param params table
---@param answer fun(error: {code: integer, message: string}?, result: any)
function Connection:request(method, params, answer)
  if self.closed then
    vim.schedule(function()
      answer({ code = 0, message = 'the server is gone' })
    end)
    return
  end
  self.id = self.id + 1
  self.waiting[self.id] = answer
  self:send({ id = self.id, method = method, params = next(params) and params or vim.empty_dict() })
end

---@param method string
---@param params? table
function Connection:notify(method, params)
  if not self.closed then
    self:send({ method = method, params = params })
  end
end

---Ends the process: by asking, and by force when it does not go within some milliseconds.
---@param patience integer
function Connection:close(patience)
  if self.closed then
    return
  end
  self:send({ id = 0, method = 'shutdown' })
  self:send({ method = 'exit' })
  pcall(self.process.write, self.process, nil)
  vim.defer_fn(function()
    if not self.closed then
      self.process:kill('sigkill')
    end
  end, patience)
end

return M

-- How many tokens lines of the buffer have.
local notices = require('ctxls.notices')
local server = require('ctxls.server')
local sessions = require('ctxls.sessions')
local text = require('ctxls.text')

local M = {}

---@param what string
---@param m {tokens: integer, percent: number?, encoding: string, exact: boolean}
local function describe(what, m)
  local share = ''
  if m.percent then
    share = m.percent < 0.1 and ', less than 0.1% of the window' or (', %.1f%% of the window'):format(m.percent)
  end
  return ('the %s has %s%s tokens%s (%s).'):format(
    what,
    m.exact and '' or 'about ',
    text.exactly(m.tokens),
    share,
    text.line(m.encoding)
  )
end

---Counts lines of the current buffer, all without a range, as the model of the session that is shown would.
---@param from? integer the first line, from 1
---@param to? integer the last one
function M.run(from, to)
  local lines = vim.api.nvim_buf_get_lines(0, (from or 1) - 1, to or -1, false)
  local content = table.concat(lines, '\n')
  sessions.fresh(function(why)
    if why then
      notices.say('not measured: ' .. why, vim.log.levels.ERROR)
      return
    end
    local params = { messages = { { role = 'user', content = content } } }
    local session = sessions.shown()
    if session then
      params.model = session.model ~= '' and session.model or nil
      params.provider = session.provider ~= '' and session.provider or nil
      params.windowTokens = session.usage.windowTokens
    end
    server.request('context/measure', params, function(problem, result)
      if problem then
        notices.say('not measured: ' .. problem, vim.log.levels.ERROR)
      else
        notices.say(describe(from and 'selection' or 'buffer', result), vim.log.levels.INFO)
      end
    end)
  end)
end

return M

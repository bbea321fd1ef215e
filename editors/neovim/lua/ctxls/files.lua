-- The files that the server names: opened, and listed in the quickfix window.
local notices = require('ctxls.notices')
local sessions = require('ctxls.sessions')
local text = require('ctxls.text')

local M = {}

---Completes a path as the server shows it: relative to the session's directory, with ~ for the home directory.
---@param s ctxls.Session
---@param path string
---@return string
local function absolute(s, path)
  if path:match('^~[/\\]') then
    return vim.uv.os_homedir() .. path:sub(2)
  elseif path:match('^[/\\]') or path:match('^%a:[/\\]') then
    return path
  end
  return s.cwd .. '/' .. path
end

---Opens a file of a session, or says that it is not there. Only a regular file is opened.
---@param s ctxls.Session
---@param path string as the server shows it
---@param ready? fun() called before it is opened
function M.open(s, path, ready)
  local full = absolute(s, path)
  local stat = vim.uv.fs_stat(full)
  if not stat or stat.type ~= 'file' then
    notices.say(('there is no file %s'):format(text.line(path, 200)), vim.log.levels.WARN)
    return
  end
  if ready then
    ready()
  end
  vim.cmd.edit(vim.fn.fnameescape(full))
end

---Lists what fills a session's window in the quickfix window: its files, the largest first, then the other parts.
---@param key? string of the session, "host/id"; without one it is the one in the statusline
function M.quickfix(key)
  sessions.fresh(function(why)
    local s = not why and (key and sessions.get(key) or not key and sessions.shown())
    if not s then
      notices.say(
        why or key and ('no session is called "%s"'):format(key) or 'no session is active in this project',
        vim.log.levels.ERROR
      )
      return
    end
    sessions.breakdown(s, function(problem, breakdown)
      if problem or not breakdown.tokens then
        notices.say(
          'what fills the window is not known: ' .. (problem or text.line(breakdown.why, 100)),
          vim.log.levels.WARN
        )
        return
      end
      local facts = require('ctxls.facts')
      local function said(tokens)
        return ('~%s tokens, %s'):format(text.exactly(tokens), text.share_of(tokens, breakdown.tokens))
      end
      local items = {}
      for _, file in ipairs(breakdown.files) do
        items[#items + 1] = { filename = absolute(s, file.path), text = said(file.tokens) }
      end
      local parts = vim.deepcopy(breakdown.parts)
      table.sort(parts, function(a, b)
        return a.tokens > b.tokens
      end)
      for _, part in ipairs(parts) do
        items[#items + 1] = { text = ('%s: %s'):format(facts.part(part), said(part.tokens)), valid = 0 }
      end
      vim.fn.setqflist({}, ' ', { title = 'What fills ' .. text.name(s), items = items })
      vim.cmd('botright copen')
    end)
  end)
end

return M

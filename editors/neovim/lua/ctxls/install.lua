-- Runs `ctxls install`, after showing what it would change.
local notices = require('ctxls.notices')
local program = require('ctxls.program')
local window = require('ctxls.window')

local M = {}

---@class ctxls.Host
---@field host string
---@field scopes string[]
---@field statusline boolean

local scopes = {
  user = 'For me, everywhere',
  project = 'For everybody in this project',
  ['local'] = 'For me, in this project',
}

local function failed(why)
  notices.say(why, vim.log.levels.ERROR)
end

---@param done fun(why: string?, hosts: ctxls.Host[])
function M.hosts(done)
  program.run({ 'install', '--json' }, function(why, out)
    local decoded, answer = pcall(vim.json.decode, out or '')
    if why or not decoded then
      done(why or 'ctxls install --json did not print JSON', {})
    else
      done(nil, answer.hosts)
    end
  end)
end

---Lets a person choose; where there is one choice only it is taken.
local function one(prompt, items, done)
  if #items == 1 then
    done(items[1])
    return
  end
  vim.ui.select(items, {
    prompt = prompt,
    kind = 'ctxls',
    format_item = function(item)
      return item.label
    end,
  }, function(chosen)
    if chosen then
      done(chosen)
    end
  end)
end

---Shows what would change, and changes it when a person says so.
---@param words string[] host and flags
local function install(words)
  local args = vim.list_extend({ 'install' }, words)
  program.run(vim.list_extend(vim.deepcopy(args), { '--dry-run' }), function(why, preview)
    if why then
      failed(why)
      return
    elseif vim.startswith(preview, 'nothing to do') then
      notices.say(vim.trim(preview), vim.log.levels.INFO)
      return
    end
    local buf = window.split('diff', vim.split(preview, '\n', { trimempty = true }))
    -- The change is to be seen while the question is asked.
    vim.cmd('redraw')
    vim.ui.select({ 'Install', 'Cancel' }, {
      prompt = ('This is what changes in the settings of %s. Nothing is written yet.'):format(words[1]),
      kind = 'ctxls',
    }, function(chosen)
      pcall(vim.api.nvim_buf_delete, buf, { force = true })
      if chosen ~= 'Install' then
        return
      end
      program.run(args, function(problem, done)
        if problem then
          failed(problem)
        else
          notices.say(vim.trim(done), vim.log.levels.INFO)
        end
      end)
    end)
  end)
end

---Asks what the words leave open. One who gives flags is not asked.
---@param words string[]
---@param hosts ctxls.Host[]
local function choose(words, hosts)
  local items = vim.tbl_map(function(host)
    return { label = host.host, host = host }
  end, hosts)
  if words[1] then
    items = vim.tbl_filter(function(item)
      return item.label == words[1]
    end, items)
    if #items == 0 then
      local names = vim.tbl_map(function(host)
        return host.host
      end, hosts)
      failed(('there is no host "%s"; there are %s'):format(words[1], table.concat(names, ', ')))
      return
    elseif words[2] then
      install(words)
      return
    end
  end
  one('Install hooks for which host?', items, function(item)
    local host = item.host
    local where = vim.tbl_map(function(scope)
      return { label = scopes[scope] or scope, flag = '--' .. scope }
    end, host.scopes)
    one(('Install hooks for %s, for whom?'):format(host.host), where, function(scope)
      local what = { { label = 'Hooks only' } }
      if host.statusline then
        -- Only there does the host tell how large the window is.
        table.insert(what, 1, { label = 'Hooks and status line, which is also a sensor', flag = '--statusline' })
      end
      one('Install what?', what, function(extra)
        local flags = #host.scopes > 1 and { host.host, scope.flag } or { host.host }
        install(vim.list_extend(flags, { extra.flag }))
      end)
    end)
  end)
end

---@param words string[] host and flags, as they are given to `ctxls install`
function M.run(words)
  M.hosts(function(why, hosts)
    if why then
      failed(why)
    else
      choose(words, hosts)
    end
  end)
end

---Completes what comes after :Ctxls install.
---@param words string[] the last one is not complete
---@return string[]
function M.complete(words)
  local hosts
  M.hosts(function(_, found)
    hosts = found
  end)
  vim.wait(2000, function()
    return hosts ~= nil
  end, 10)
  if #words == 1 then
    return vim.tbl_map(function(host)
      return host.host
    end, hosts or {})
  end
  for _, host in ipairs(hosts or {}) do
    if host.host == words[1] then
      local flags = vim.tbl_map(function(scope)
        return '--' .. scope
      end, host.scopes)
      return vim.list_extend(flags, host.statusline and { '--statusline' } or {})
    end
  end
  return {}
end

return M

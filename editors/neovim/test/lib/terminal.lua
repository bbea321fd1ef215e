-- An editor in a terminal, as a person sees it: tmux draws it, and what it drew is read back with its escape codes.
local editors = require('lib.editor')
local expect = require('lib.expect')
local machines = require('lib.machine')

local M = {}
local Terminal = {}
Terminal.__index = Terminal

local count = 0

---Starts the editor with a configuration, a text of Lua, that finds the plugin as a plugin manager would have it found.
function M.start(machine, init, options)
  options = options or {}
  count = count + 1
  local socket = ('ctxls-%d-%d'):format(vim.fn.getpid(), count)
  local self = setmetatable({ machine = machine, socket = socket }, Terminal)
  local config = machine.home .. '/.config/nvim'
  vim.fn.mkdir(config, 'p')
  vim.fn.writefile(
    vim.split(("vim.opt.rtp:prepend('%s')\n"):format(machines.plugin) .. init, '\n'),
    config .. '/init.lua'
  )
  local env = { 'env', '-i' }
  for name, value in pairs(machine.env) do
    env[#env + 1] = name .. '=' .. value
  end
  vim.list_extend(env, { 'TERM=tmux-256color', editors.program, '-n', '-i', 'NONE', unpack(options.args or {}) })
  self:tmux(
    '-f',
    '/dev/null',
    'new-session',
    '-d',
    '-x',
    options.columns or '100',
    '-y',
    options.rows or '30',
    '-c',
    machine.project,
    unpack(env)
  )
  self:tmux('set-option', '-g', 'status', 'off')
  cleanup(function()
    pcall(self.tmux, self, 'kill-server') -- it may have gone with its last window
    expect.eventually(function()
      return machine:servers()
    end, {}, 'the end of every server')
  end)
  return self
end

function Terminal:tmux(...)
  local words = vim.tbl_map(tostring, { ... })
  local result = vim.system({ 'tmux', '-L', self.socket, unpack(words) }, { env = { TMUX = '' } }):wait()
  assert(result.code == 0, result.stderr)
  return result.stdout
end

---Presses keys, as tmux names them.
function Terminal:press(...)
  self:tmux('send-keys', ...)
end

---Types an Ex command.
function Terminal:command(text)
  self:press('Escape')
  self:tmux('send-keys', '-l', ':' .. text)
  self:press('Enter')
end

---What is on the screen, as plain text.
function Terminal:screen()
  return self:tmux('capture-pane', '-p')
end

---Waits until all texts are on the screen.
function Terminal:shows(...)
  local want, screen = { ... }, ''
  local there = vim.wait(expect.soon, function()
    screen = self:screen()
    for _, text in ipairs(want) do
      if not screen:find(text, 1, true) then
        return false
      end
    end
    return true
  end, 50)
  if not there then
    expect.holds(screen, ...)
  end
  return screen
end

---Waits until a text is on the screen no more.
function Terminal:hides(text)
  expect.eventually(function()
    return not self:screen():find(text, 1, true)
  end, nil, ('"%s" gone from the screen'):format(text))
end

---Takes the codes of one SGR sequence over into a style.
local function style_by(style, codes)
  local list = vim.split(codes, '[;:]')
  local i = 1
  while i <= #list do
    local code = tonumber(list[i]) or 0
    if code == 0 then
      style.fg, style.bg, style.reverse, style.bold = nil, nil, nil, nil
    elseif code == 1 then
      style.bold = true
    elseif code == 7 then
      style.reverse = true
    elseif code == 27 then
      style.reverse = nil
    elseif code == 39 then
      style.fg = nil
    elseif code == 49 then
      style.bg = nil
    elseif code >= 30 and code <= 37 or code >= 90 and code <= 97 then
      style.fg = tostring(code % 10 + (code >= 90 and 8 or 0))
    elseif code >= 40 and code <= 47 or code >= 100 and code <= 107 then
      style.bg = tostring(code % 10 + (code >= 100 and 8 or 0))
    elseif code == 38 or code == 48 then
      local colour
      if list[i + 1] == '2' then
        colour = ('#%02x%02x%02x'):format(list[i + 2], list[i + 3], list[i + 4])
        i = i + 4
      else
        colour = list[i + 2]
        i = i + 2
      end
      style[code == 38 and 'fg' or 'bg'] = colour
    end
    i = i + 1
  end
end

---The style of the first place where a text stands on the screen, by the capture's own escape codes: {fg, bg, reverse, bold},
---where colours are "#rrggbb" or a number of the terminal's palette. A text that has more than one style is an error.
function Terminal:style(text)
  for line in vim.gsplit(self:tmux('capture-pane', '-p', '-e'), '\n') do
    local plain, styles, style, from = '', {}, {}, 1
    while from <= #line do
      local codes, after = line:match('^\27%[([%d;:]*)m()', from)
      if codes then
        style_by(style, codes)
        from = after
      else
        plain = plain .. line:sub(from, from)
        styles[#plain] = vim.deepcopy(style)
        from = from + 1
      end
    end
    local at, to = plain:find(text, 1, true)
    if at then
      for i = at, to do
        expect.same(styles[i], styles[at], ('the style within "%s"'):format(text))
      end
      return styles[at]
    end
  end
  error(('"%s" is not on the screen:\n%s'):format(text, self:screen()), 2)
end

---Keeps the screen for people to look at, as out/NAME.ansi; make neovim-pictures makes the README's pictures of them.
function Terminal:keep(name)
  local out = machines.plugin .. '/out'
  vim.fn.mkdir(out, 'p')
  local file = assert(io.open(('%s/%s.ansi'):format(out, name), 'w'))
  file:write(self:tmux('capture-pane', '-p', '-e', '-N'))
  file:close()
end

return M

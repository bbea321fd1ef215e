-- Windows with text that cannot be changed.
local config = require('ctxls.config')

local M = {}

local namespace = vim.api.nvim_create_namespace('ctxls')

---The widest that a floating window becomes, in cells: longer lines are hard to read.
local widest = 120

---A line is chunks of text and highlight group. `path` is the file that it names, to be opened by a key.
---@class ctxls.Line
---@field [integer] [string, string?]
---@field path? string

---@param buf integer
---@param lines ctxls.Line[]
local function write(buf, lines)
  local plain = {}
  for i, line in ipairs(lines) do
    plain[i] = ''
    for _, chunk in ipairs(line) do
      plain[i] = plain[i] .. chunk[1]
    end
  end
  vim.bo[buf].modifiable = true
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, plain)
  vim.bo[buf].modifiable = false
  vim.api.nvim_buf_clear_namespace(buf, namespace, 0, -1)
  for i, line in ipairs(lines) do
    local column = 0
    for _, chunk in ipairs(line) do
      local to = column + #chunk[1]
      if chunk[2] then
        vim.api.nvim_buf_set_extmark(buf, namespace, i - 1, column, { end_col = to, hl_group = chunk[2] })
      end
      column = to
    end
  end
  return plain
end

---@param filetype string
local function scratch(filetype)
  local buf = vim.api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = 'wipe'
  vim.bo[buf].filetype = filetype
  return buf
end

---Closes the window by q and, where it floats, by Esc.
local function closes_by(buf, ...)
  for _, key in ipairs({ ... }) do
    vim.keymap.set('n', key, '<Cmd>close<CR>', { buffer = buf, nowait = true, desc = 'Close' })
  end
end

---How wide the text of a floating window may be on this screen, in cells.
---@return integer
function M.width()
  return math.max(math.min(vim.o.columns - 4, widest), 1)
end

---@class ctxls.FloatOptions
---@field footer? string
---@field wrap? boolean whether lines that are too long go on in the next one

---@class ctxls.Float
---@field package buf integer
---@field package win integer
---@field package lines ctxls.Line[]
local Float = {}
Float.__index = Float

---Places a window for this text in the middle, as large as there is room.
local function place(plain, title, options)
  local wide = math.min(40, M.width())
  for _, line in ipairs(plain) do
    wide = math.max(wide, vim.api.nvim_strwidth(line) + 1)
  end
  local width, rows = math.min(wide, M.width()), #plain
  if options.wrap then
    rows = 0
    for _, line in ipairs(plain) do
      rows = rows + math.max(math.ceil(vim.api.nvim_strwidth(line) / width), 1)
    end
  end
  local height = math.max(math.min(rows, vim.o.lines - 5), 1)
  local bordered = config.options.border ~= 'none'
  return {
    relative = 'editor',
    width = width,
    height = height,
    row = math.max(math.floor((vim.o.lines - height) / 2) - 2, 0),
    col = math.max(math.floor((vim.o.columns - width) / 2) - 1, 0),
    border = config.options.border,
    title = bordered and (' %s '):format(require('ctxls.text').middle(title, math.max(width - 4, 4))) or nil,
    footer = bordered and options.footer and (' %s '):format(options.footer) or nil,
    footer_pos = bordered and options.footer and 'right' or nil,
    style = 'minimal',
  }
end

---Opens a floating window and goes there. It closes by q, by Esc and when it is left.
---@param title string
---@param lines ctxls.Line[]
---@param options? ctxls.FloatOptions
---@return ctxls.Float
function M.float(title, lines, options)
  options = options or { wrap = true }
  local buf = scratch('ctxls')
  local plain = write(buf, lines)
  local before = vim.api.nvim_get_current_win()
  local win = vim.api.nvim_open_win(buf, true, place(plain, title, options))
  vim.wo[win].wrap, vim.wo[win].linebreak, vim.wo[win].breakindent = options.wrap or false, true, true
  vim.wo[win].breakindentopt = 'shift:2'
  closes_by(buf, 'q', '<Esc>')
  local self = setmetatable(
    { buf = buf, win = win, before = before, title = title, lines = lines, plain = plain, options = options },
    Float
  )
  vim.api.nvim_create_autocmd('WinLeave', {
    buffer = buf,
    once = true,
    callback = vim.schedule_wrap(function()
      pcall(vim.api.nvim_win_close, win, true)
    end),
  })
  vim.api.nvim_create_autocmd('VimResized', {
    buffer = buf,
    callback = function()
      if self.on_resize then
        self.on_resize()
      else
        vim.api.nvim_win_set_config(win, place(self.plain, title, options))
      end
    end,
  })
  return self
end

---@return boolean
function Float:is_open()
  return vim.api.nvim_win_is_valid(self.win) and vim.api.nvim_buf_is_valid(self.buf)
end

---Replaces the text.
---@param lines ctxls.Line[]
function Float:set(lines)
  self.lines, self.plain = lines, write(self.buf, lines)
  local where = place(self.plain, self.title, self.options)
  vim.api.nvim_win_set_config(self.win, where)
  if #lines <= where.height then -- a window that grew shows the first line again
    vim.api.nvim_win_call(self.win, function()
      vim.fn.winrestview({ topline = 1 })
    end)
  end
end

---Calls a function by keys of normal mode.
---@param keys string[]
---@param description string
---@param call fun()
function Float:map(keys, description, call)
  for _, key in ipairs(keys) do
    vim.keymap.set('n', key, call, { buffer = self.buf, nowait = true, desc = description })
  end
end

---The file that the line under the cursor names.
---@return string?
function Float:path()
  local line = self.lines[vim.api.nvim_win_get_cursor(self.win)[1]]
  return line and line.path
end

---Closes it and goes back to the window that it was opened from.
function Float:close()
  pcall(vim.api.nvim_win_close, self.win, true)
  if vim.api.nvim_win_is_valid(self.before) then
    vim.api.nvim_set_current_win(self.before)
  end
end

---Opens a window below the others and goes there. It closes by q.
---@param filetype string
---@param plain string[]
function M.split(filetype, plain)
  local buf = scratch(filetype)
  write(
    buf,
    vim.tbl_map(function(line)
      return { { line } }
    end, plain)
  )
  vim.cmd('botright split')
  vim.api.nvim_win_set_buf(0, buf)
  vim.api.nvim_win_set_height(0, math.max(5, math.min(#plain, math.floor(vim.o.lines / 2))))
  closes_by(buf, 'q')
  return buf
end

return M

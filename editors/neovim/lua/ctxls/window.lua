-- Windows with text that cannot be changed.
local config = require('ctxls.config')

local M = {}

local namespace = vim.api.nvim_create_namespace('ctxls')

---A line is chunks of text and highlight group.
---@alias ctxls.Line [string, string?][]

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

---@class ctxls.Float
---@field private buf integer
---@field private win integer
local Float = {}
Float.__index = Float

---Where a window of this text goes: in the middle, as large as there is room.
local function place(plain, title)
  local wide = 40
  for _, line in ipairs(plain) do
    wide = math.max(wide, vim.api.nvim_strwidth(line))
  end
  local width, rows = math.max(math.min(wide + 1, vim.o.columns - 4), 1), 0
  for _, line in ipairs(plain) do
    rows = rows + math.max(math.ceil(vim.api.nvim_strwidth(line) / width), 1)
  end
  local height = math.max(math.min(rows, vim.o.lines - 5), 1)
  return {
    relative = 'editor',
    width = width,
    height = height,
    row = math.max(math.floor((vim.o.lines - height) / 2) - 2, 0),
    col = math.max(math.floor((vim.o.columns - width) / 2) - 1, 0),
    border = config.options.border,
    title = config.options.border ~= 'none' and (' %s '):format(title) or nil,
    style = 'minimal',
  }
end

---Opens a floating window and goes there. It closes by q, by Esc and when it is left.
---@param title string
---@param lines ctxls.Line[]
---@return ctxls.Float
function M.float(title, lines)
  local buf = scratch('ctxls')
  local plain = write(buf, lines)
  local win = vim.api.nvim_open_win(buf, true, place(plain, title))
  vim.wo[win].wrap, vim.wo[win].linebreak, vim.wo[win].breakindent = true, true, true
  vim.wo[win].breakindentopt = 'shift:2'
  closes_by(buf, 'q', '<Esc>')
  local self = setmetatable({ buf = buf, win = win, title = title, plain = plain }, Float)
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
      vim.api.nvim_win_set_config(win, place(self.plain, title))
    end,
  })
  return self
end

---@return boolean
function Float:is_open()
  return vim.api.nvim_win_is_valid(self.win) and vim.api.nvim_buf_is_valid(self.buf)
end

---Puts other text into it.
---@param lines ctxls.Line[]
function Float:set(lines)
  self.plain = write(self.buf, lines)
  vim.api.nvim_win_set_config(self.win, place(self.plain, self.title))
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

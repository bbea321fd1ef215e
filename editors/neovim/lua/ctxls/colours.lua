-- The highlight groups: by level, linked to the colour scheme, and as they can be read in a statusline.
local M = {}

---The default link of each group, unless the user defined the group.
local links = {
  CtxlsNotice = 'DiagnosticInfo',
  CtxlsWarning = 'DiagnosticWarn',
  CtxlsCritical = 'DiagnosticError',
  CtxlsUnknown = 'Comment',
  CtxlsFailed = 'DiagnosticError',
  CtxlsLabel = 'Comment',
  CtxlsTitle = 'Title',
}

local levels = { normal = 'CtxlsNormal', notice = 'CtxlsNotice', warning = 'CtxlsWarning', critical = 'CtxlsCritical' }

---What becomes of a colour that cannot be read on the bar: a block of it, bold text, or nothing.
local otherwise = {
  CtxlsNotice = 'bold',
  CtxlsWarning = 'block',
  CtxlsCritical = 'block',
  CtxlsFailed = 'block',
}

---The contrast that text needs: WCAG 2.2, 1.4.3.
local enough = 4.5

---Since 0.11 a group in a statusline lies on the bar's own, whose attributes it inherits.
local stacks = vim.fn.has('nvim-0.11') == 1

---@param colour integer 0xrrggbb
---@return number luminance 0–1, as WCAG defines it
local function luminance(colour)
  local sum = 0
  for i, weight in ipairs({ 0.2126, 0.7152, 0.0722 }) do
    local part = math.floor(colour / 256 ^ (3 - i)) % 256 / 255
    sum = sum + weight * (part <= 0.04045 and part / 12.92 or ((part + 0.055) / 1.055) ^ 2.4)
  end
  return sum
end

local function contrast(a, b)
  local first, second = luminance(a), luminance(b)
  return (math.max(first, second) + 0.05) / (math.min(first, second) + 0.05)
end

local function get(name)
  return vim.api.nvim_get_hl(0, { name = name, link = false })
end

---The colour of text on a block: the text's own background where that can be read, else black or white.
local function ink(block, ground)
  if contrast(block, ground) >= enough then
    return ground
  end
  return contrast(block, 0x000000) >= contrast(block, 0xffffff) and 0x000000 or 0xffffff
end

---How a level's group can be read on a bar: its colour, a block of it, bold text, or as the bar's own.
---@param name string
---@param bar? integer the background of the bar; nil is one that its colours are not made for
---@return {fg: integer?, bg: integer?, bold: boolean?} look
function M.on(name, bar)
  local own, normal = get(name), get('Normal')
  local ground = normal.bg or (vim.o.background == 'dark' and 0x000000 or 0xffffff)
  if own.bg or not own.fg then
    return { fg = own.fg, bg = own.bg, bold = own.bold }
  elseif bar and contrast(own.fg, bar) >= enough then
    return { fg = own.fg, bold = own.bold }
  elseif otherwise[name] == 'block' then
    return { fg = ink(own.fg, ground), bg = own.fg, bold = own.bold }
  end
  return { bold = otherwise[name] == 'bold' or own.bold }
end

---Makes a group for statuslines of a level's group.
---@param name string
---@return vim.api.keyset.highlight?
local function on_the_bar(name)
  local own, bar, normal = get(name), get('StatusLine'), get('Normal')
  if own.bg or own.reverse or own.ctermbg or vim.tbl_isempty(own) then
    return own -- the user chose it, or it is no colour
  end
  local dark = vim.o.background == 'dark'
  local ground = normal.bg or (dark and 0x000000 or 0xffffff)
  local group = M.on(name, not bar.reverse and (bar.bg or ground) or nil)
  group.italic, group.cterm = own.italic, {}
  group.nocombine = group.bg and true or nil
  -- What the colours of a terminal's palette look like is not known.
  if own.ctermfg and otherwise[name] == 'block' then
    group.ctermfg, group.ctermbg = normal.ctermbg or (dark and 0 or 15), own.ctermfg
    group.cterm.nocombine = true
  else
    group.cterm.bold = otherwise[name] == 'bold'
  end
  if not stacks then
    group.fg, group.bg, group.reverse = group.fg or bar.fg, group.bg or bar.bg, not group.bg and bar.reverse or nil
    group.ctermfg, group.ctermbg = group.ctermfg or bar.ctermfg, group.ctermbg or bar.ctermbg
    group.cterm.reverse = not group.cterm.nocombine and bar.cterm and bar.cterm.reverse or nil
  end
  return group
end

---The group of a level; nil is an unknown one.
---@param level? string
---@return string
function M.of(level)
  return levels[level] or 'CtxlsUnknown'
end

---The group that a level's group has in a statusline; "" where it has no look of its own.
---@param name string
---@return string
function M.in_statusline(name)
  local bar_name = name:gsub('^Ctxls', 'CtxlsBar')
  return name ~= '' and next(vim.api.nvim_get_hl(0, { name = bar_name })) and bar_name or ''
end

---Defines the groups. To be called again when the colour scheme changes.
function M.define()
  for group, link in pairs(links) do
    vim.api.nvim_set_hl(0, group, { link = link, default = true })
  end
  for _, name in ipairs({ 'CtxlsNormal', 'CtxlsNotice', 'CtxlsWarning', 'CtxlsCritical', 'CtxlsUnknown', 'CtxlsFailed' }) do
    vim.api.nvim_set_hl(0, (name:gsub('^Ctxls', 'CtxlsBar')), on_the_bar(name))
  end
end

return M

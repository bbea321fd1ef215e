-- The gauge for lualine: { 'ctxls' } in a section. The section keeps its background, the level gives the colour of the text.
local M = require('lualine.component'):extend()

---lualine's sections on the right look like those on the left.
local mirrored = { x = 'c', y = 'b', z = 'a' }

---@param called {section: string}
---@return {fg: string?, bg: string?, gui: string?}?
local function colour(called)
  local group = require('ctxls').highlight()
  if group == '' then
    return nil
  end
  local section = mirrored[called.section] or called.section
  local bar = vim.api.nvim_get_hl(0, { name = ('lualine_%s_normal'):format(section), link = false })
  local look = require('ctxls.colours').on(group, bar.bg)
  local function hex(number)
    return number and ('#%06x'):format(number)
  end
  return { fg = hex(look.fg), bg = hex(look.bg), gui = look.bold and 'bold' or nil }
end

function M:init(options)
  options.color = options.color or colour
  M.super.init(self, options)
end

---@return string
function M.update_status()
  return (require('ctxls').status():gsub('%%', '%%%%'))
end

return M

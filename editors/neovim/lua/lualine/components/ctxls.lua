-- The gauge for lualine: { 'ctxls' } in a section. The section keeps its background, the level gives the colour of the text.
local M = require('lualine.component'):extend()

---@return {fg: string}?
local function colour()
  local group = require('ctxls').highlight()
  local fg = group ~= '' and vim.api.nvim_get_hl(0, { name = group, link = false }).fg
  return fg and { fg = ('#%06x'):format(fg) } or nil
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

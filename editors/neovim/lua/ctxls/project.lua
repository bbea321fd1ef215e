-- Which directory's sessions are shown.
local config = require('ctxls.config')

local M = {}

---The project of the working directory: the nearest directory above it that holds a marker, else itself.
---@return string
function M.root()
  local cwd = vim.fn.getcwd()
  if cwd == '' then -- it was removed
    return vim.uv.os_homedir()
  end
  local markers = config.options.root_markers
  return #markers > 0 and vim.fs.root(cwd, markers) or cwd
end

---A directory as the protocol has workspace folders.
---@param path string
---@return {uri: string, name: string}
function M.as_folder(path)
  return { uri = vim.uri_from_fname(path), name = vim.fs.basename(path) }
end

return M

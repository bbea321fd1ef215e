-- What a session holds before its first prompt, in a window of its own.
local M = {}

---Shows the audit of a directory; of the current one where none is named.
---@param dir? string
function M.show(dir)
  dir = dir or vim.fn.getcwd()
  require('ctxls.program').run({ 'audit', dir, '--color', 'never' }, function(why, out)
    if why then
      vim.notify('ctxls: ' .. why, vim.log.levels.ERROR)
      return
    end
    vim.cmd('botright new')
    local buffer = vim.api.nvim_get_current_buf()
    vim.bo[buffer].buftype = 'nofile'
    vim.bo[buffer].bufhidden = 'wipe'
    vim.bo[buffer].swapfile = false
    vim.bo[buffer].filetype = 'ctxls-audit'
    vim.api.nvim_buf_set_lines(buffer, 0, -1, false, vim.split(vim.trim(out or ''), '\n'))
    vim.bo[buffer].modifiable = false
    vim.keymap.set('n', 'q', '<Cmd>close<CR>', { buffer = buffer, nowait = true, desc = 'Close' })
  end)
end

return M

local M = {}
function M.check()
  if vim.fn.has('nvim-0.10') == 0 then
    require('health').report_error(require('ctxls.old').why)
    return
  end
end
return M

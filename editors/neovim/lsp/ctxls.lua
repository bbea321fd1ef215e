-- The language server for context files: vim.lsp.enable('ctxls'), in Neovim 0.11 or later.
-- It is a process of its own, and follows no sessions.

---Whether a host looks for a file of this name.
local function is_context_file(path)
  local name = vim.fs.basename(path)
  for _, own in ipairs({ 'CLAUDE.md', 'CLAUDE.local.md', 'AGENTS.md', 'AGENTS.override.md', 'GEMINI.md', 'SKILL.md' }) do
    if name == own then
      return true
    end
  end
  return vim.fs.normalize(path):match('/%.claude/%l+/.*%.md$') ~= nil
end

return {
  cmd = function(dispatchers)
    local path, why = require('ctxls.program').find()
    if not path then
      error(why, 0)
    end
    return vim.lsp.rpc.start({ path, 'serve' }, dispatchers)
  end,
  filetypes = { 'markdown' },
  root_dir = function(buffer, found)
    local path = vim.api.nvim_buf_get_name(buffer)
    if is_context_file(path) then
      found(vim.fs.root(buffer, '.git') or vim.fs.dirname(path))
    end
  end,
  init_options = { sessions = 'none' },
  commands = {
    ['ctxls.audit'] = function(command)
      require('ctxls.audit').show(command.arguments[1])
    end,
  },
  on_attach = function(client, buffer)
    -- Neovim asks for lenses only when it is told to.
    vim.api.nvim_create_autocmd({ 'BufEnter', 'InsertLeave', 'TextChanged', 'BufWritePost' }, {
      buffer = buffer,
      callback = function()
        if client:supports_method('textDocument/codeLens') then
          vim.lsp.codelens.refresh({ bufnr = buffer })
        end
      end,
    })
    vim.lsp.codelens.refresh({ bufnr = buffer })
    vim.lsp.inlay_hint.enable(true, { bufnr = buffer })
  end,
}

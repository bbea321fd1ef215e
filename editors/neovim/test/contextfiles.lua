-- The language server on context files, in the editor's own client: lens, hint, hover, diagnostic, symbols and quick fix.
local editors = require('lib.editor')
local expect = require('lib.expect')
local machines = require('lib.machine')

local function write(path, text)
  vim.fn.mkdir(vim.fs.dirname(path), 'p')
  local file = assert(io.open(path, 'w'))
  file:write(text)
  file:close()
end

local function start()
  local machine = machines.new()
  vim.fn.mkdir(machine.home .. '/.claude', 'p')
  write(machine.project .. '/docs/orders.md', 'Orders are paid before they are sent.\n')
  write(machine.project .. '/docs/carts.md', 'Carts live for a day.\n')
  write(machine.project .. '/CLAUDE.md', '# Shop\n\nSee @docs/orders.md and @docs/carts.md, please.\n')
  write(machine.project .. '/README.md', '# Shop\n')
  local editor = editors.start(machine)
  editor:lua("vim.lsp.enable('ctxls')")
  editor:command('filetype on')
  editor:command('edit CLAUDE.md')
  expect.eventually(function()
    return editor:lua('return #vim.lsp.get_clients({ bufnr = 0 })')
  end, 1, 'clients')
  return machine, editor
end

---The lens on the first line; "" before there is one.
local function lens(editor)
  return editor:lua([[
    local lens = vim.lsp.codelens.get(0)[1]
    return lens and lens.command and lens.command.title or '']])
end

---What the editor draws within the lines.
local function hints(editor)
  return editor:lua(
    [[
    return table.concat(vim.tbl_map(function(h) return h.inlay_hint.label end, vim.lsp.inlay_hint.get({ bufnr = 0 })), ' | ')]]
  )
end

if vim.fn.has('nvim-0.11') == 0 then
  return {}
end

return {
  {
    'a CLAUDE.md has a lens, hints, a diagnostic, a hover and symbols; other files have no server',
    function()
      local _, editor = start()
      expect.eventually(function()
        return lens(editor):match('^~%d+ tokens each session in Claude Code · %d+ of them imports') ~= nil
      end, true, 'the lens')
      expect.eventually(function()
        return hints(editor):match('^~%d+ | not loaded: trailing comma$') ~= nil
      end, true, 'the hints')
      expect.eventually(function()
        return editor:lua('return vim.tbl_map(function(d) return d.code end, vim.diagnostic.get(0))')
      end, { 'import-punctuation' }, 'the diagnostics')
      local function ask(method)
        return editor:lua(
          [[
          local params = { textDocument = vim.lsp.util.make_text_document_params(0), position = { line = 2, character = 8 } }
          local answers = vim.lsp.buf_request_sync(0, ..., params, 10000)
          for _, answer in pairs(answers) do return answer.result end]],
          method
        )
      end
      expect.same(
        ask('textDocument/hover').contents.value:match('%*%*docs/orders%.md%*%*'),
        '**docs/orders.md**',
        'hover'
      )
      expect.same(ask('textDocument/documentSymbol')[1].name, 'Shop', 'symbols')
      editor:command('edit README.md')
      expect.same(editor:lua('return #vim.lsp.get_clients({ bufnr = 0 })'), 0, 'clients of another file')
    end,
  },
  {
    'the quick fix removes the comma, and the lens follows the change before it is saved',
    function()
      local machine, editor = start()
      expect.eventually(function()
        return hints(editor):match('trailing comma') ~= nil
      end, true, 'the hints')
      local before = lens(editor)
      editor:lua(
        [[
        vim.api.nvim_win_set_cursor(0, { 3, 30 })
        vim.lsp.buf.code_action({ apply = true, filter = function(a) return a.title:find('Remove') ~= nil end })]]
      )
      expect.eventually(function()
        return editor:lua('return vim.api.nvim_buf_get_lines(0, 2, 3, false)[1]')
      end, 'See @docs/orders.md and @docs/carts.md please.', 'the line')
      expect.eventually(function()
        editor:lua('vim.lsp.codelens.refresh({ bufnr = 0 })')
        local now = lens(editor)
        return now ~= '' and now ~= before
      end, true, 'the lens')
      expect.eventually(function()
        return hints(editor):match('not loaded') == nil
      end, true, 'the hints')
      local file = assert(io.open(machine.project .. '/CLAUDE.md'))
      expect.same(file:read('*a'):match('carts%.md,') ~= nil, true, 'the file on the disk is as it was')
      file:close()
    end,
  },
  {
    'the lens opens the audit',
    function()
      local _, editor = start()
      expect.eventually(function()
        return lens(editor) ~= ''
      end, true, 'the lens')
      -- A lens that is being asked for anew does not run.
      expect.eventually(function()
        editor:lua([[
          if vim.api.nvim_buf_get_name(0):match('CLAUDE.md$') then
            vim.api.nvim_win_set_cursor(0, { 1, 0 })
            vim.lsp.codelens.run()
          end]])
        return editor:lua(
          [[return vim.api.nvim_buf_get_lines(0, 0, 1, false)[1]:match('^before the first prompt in') ~= nil]]
        )
      end, true, 'the audit')
    end,
  },
}

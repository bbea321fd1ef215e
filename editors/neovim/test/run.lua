-- Runs tests: nvim -l test/run.lua FILE…, where each file returns a list of {name, function}. PATTERN=… runs those whose
-- name matches. NVIM_UNDER_TEST is the editor that is tested, CTXLS the server; this Neovim only drives.
local here = vim.fs.dirname(vim.uv.fs_realpath(arg[0]))
package.path = here .. '/?.lua;' .. package.path

local pattern = vim.env.PATTERN or ''
local failed, passed = 0, 0

---What was started, to be ended after each test, whatever came of it.
local cleanups = {}

function _G.cleanup(undo)
  table.insert(cleanups, 1, undo)
end

local function report(err)
  return debug.traceback(tostring(err), 2)
end

for _, file in ipairs(arg) do
  for _, test in ipairs(dofile(file)) do
    local name, run = unpack(test)
    if name:find(pattern) then
      local begin = vim.uv.hrtime()
      local ok, err = xpcall(run, report)
      for _, undo in ipairs(cleanups) do
        local undone, problem = xpcall(undo, report)
        if not undone then
          ok, err = false, (err or '') .. '\ncleaning up: ' .. problem
        end
      end
      cleanups = {}
      passed, failed = passed + (ok and 1 or 0), failed + (ok and 0 or 1)
      io.write(('%s %s (%.1f s)\n'):format(ok and 'ok  ' or 'FAIL', name, (vim.uv.hrtime() - begin) / 1e9))
      if not ok then
        io.write('     ', (err:gsub('\n', '\n     ')), '\n')
      end
      io.flush()
    end
  end
end

io.write(('%d passed, %d failed\n'):format(passed, failed))
os.exit(failed == 0 and passed > 0 and 0 or 1)

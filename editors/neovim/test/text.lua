-- How figures are written: the same cases, and the same answers, as editors/vscode/test/unit/text.test.ts.
local editors = require('lib.editor')
local expect = require('lib.expect')
local machines = require('lib.machine')

local editor

---Calls a function of lua/ctxls/text.lua in the editor.
local function call(name, ...)
  return editor:lua(
    [[
    local function known(value) -- nil is not known, and comes over the wire as vim.NIL
      if value == vim.NIL then return nil end
      if type(value) ~= 'table' then return value end
      local new = {}
      for k, v in pairs(value) do new[k] = known(v) end
      return new
    end
    local args = known({ select(2, ...) })
    return require('ctxls.text')[...](unpack(args, 1, select('#', ...) - 1))]],
    name,
    ...
  )
end

local function session(changes, usage)
  return vim.tbl_extend('force', {
    host = 'claude-code',
    sessionId = '33e50cf9-0000',
    cwd = '/home/me/project',
    title = 'tidy up',
    model = 'claude-sonnet-4-6',
    provider = 'anthropic',
    agents = {},
    compactions = 0,
    compacting = false,
    usage = vim.tbl_extend('force', {
      tokens = 143912,
      windowTokens = 200000,
      level = 'normal',
      compactionRule = 'threshold',
      compactionTokens = 167000,
      provenance = 'host',
      stale = false,
      toCompaction = 23088,
      display = { tokens = 143912, limitTokens = 200000, percent = 72 },
    }, usage or {}),
  }, changes or {})
end

local unknown = {
  tokens = vim.NIL,
  level = vim.NIL,
  provenance = vim.NIL,
  toCompaction = vim.NIL,
  display = { limitTokens = 200000 },
}

local function test(name, run)
  return {
    name,
    function()
      editor = editors.start(machines.new())
      run()
    end,
  }
end

return {
  test('numbers of tokens read as on the command line', function()
    for n, want in pairs({
      [0] = '0',
      [812] = '812',
      [999] = '999',
      [1000] = '1.0k',
      [9449] = '9.4k',
      [9950] = '10k',
      [143912] = '144k',
      [999499] = '999k',
      [999500] = '1M',
      [1048576] = '1.05M',
      [2000000] = '2M',
      [10000000] = '10M',
    }) do
      expect.same(call('tokens', n), want)
    end
    expect.same(call('tokens', vim.NIL), '?')
    expect.same(
      call('exactly', 7) .. ' ' .. call('exactly', 143912) .. ' ' .. call('exactly', 1048576),
      '7 143,912 1,048,576'
    )
  end),
  test('a share is marked by what it is', function()
    expect.same(call('percent', session().usage), '72%')
    expect.same(call('percent', session({}, { provenance = 'estimate' }).usage), '~72%')
    expect.same(call('percent', session({}, { stale = true }).usage), '72%+')
    expect.same(call('percent', session({}, unknown).usage), '?')
  end),
  test('the format leaves out what does not apply, and says "?" for what is not known', function()
    local icons = { session = 'O', compacting = '@', warning = 'W', critical = 'C' }
    local function fill(format, s)
      return call('fill', format, s, icons)
    end
    local format = '{icon} {percent} · {until}'
    expect.same(fill(format, session()), 'O 72% · 23k to compaction')
    expect.same(fill(format, session({}, { provenance = 'estimate' })), 'O ~72% · ~23k to compaction')
    expect.same(fill(format, session({}, { compactionRule = 'off' })), 'O 72% · 23k left')
    expect.same(fill(format, session({}, unknown)), 'O ?')
    expect.same(fill(format, session({}, { toCompaction = vim.NIL })), 'O 72%')
    expect.same(fill(format, session({ compacting = true })), '@ 72% · 23k to compaction')
    expect.same(fill('{percent}', session({ compacting = true })), '@ 72%')
    expect.same(fill('{percent}', session({}, { level = 'warning' })), 'W 72%')
    expect.same(fill('{icon} {percent}', session({}, { level = 'critical' })), 'C 72%')
    expect.same(fill('{tokens}/{window} | {model} · fixed', session()), '144k/200k | claude-sonnet-4-6 · fixed')
    expect.same(fill('{left} left · {percent}', session({}, unknown)), '? left · ?')
    expect.same(fill('{nonsense} {percent}', session()), '{nonsense} 72%')
    expect.same(fill('{bar}', session()), '██████│░')
    expect.same(fill('{bar}', session({}, unknown)), '······│·')
    expect.same(fill('', session()), '')
    expect.same(fill('{title} {percent}', session({ title = '%d {percent}' })), '%d {percent} 72%')
    expect.same(fill('{forecast}', session({}, { turnsToCompaction = { low = 0, mid = 1, high = 2 } })), '~1 turn')
  end),
  test('what comes from outside is one line of what can be seen', function()
    expect.same(call('line', 'a\226\128\174b\n\tc\0d\226\128\139'), 'a b c d')
    expect.same(call('line', '\27]2;x\7\194\155' .. '31m \255é'), ']2;x 31m é')
    expect.same(vim.fn.strchars(call('line', ('é'):rep(100))), 60)
    expect.same(call('name', session({ title = '' })), 'project')
    expect.same(call('name', session({ title = '', cwd = '' })), '33e50cf9')
  end),
  test('what is left is said with what comes then', function()
    local function said(changes)
      return call('left_in_words', session({}, changes).usage)
    end
    local function refusal(rule)
      return { compactionRule = rule, compactionTokens = vim.NIL, toCompaction = vim.NIL, toRefusal = 56088 }
    end
    expect.same(said({}), '23k tokens to compaction')
    expect.same(said({ projectedTokens = 150000, toCompaction = 17000 }), '~17k tokens to compaction')
    expect.same(said(refusal('onRefusal')), '56k tokens left, compacts when refused')
    expect.same(said(refusal('off')), '56k tokens left, no auto-compaction')
    expect.same(said(refusal('unknown')), '56k tokens left')
  end),
  test('a text is fitted to a width: cut in its middle, broken at spaces, never inside a number', function()
    expect.same(call('middle', 'src/very/long/directory/token.go', 20), 'src/ve…tory/token.go')
    expect.same(call('fit', 'a', 3), 'a  ')
    expect.same(call('fit', '日本語日本語', 5), '…本語')
    expect.same(call('wrap', '180,000, 90.0% of the window', 14), { '180,000, 90.0%', 'of the window' })
    expect.same(call('wrap', 'src/very/long/directory/token.go', 20), { 'src/ve…tory/token.go' })
  end),
  test('a part of a whole is never 0% where there is some of it', function()
    expect.same(call('share_of', 127, 143912), '<1%')
    expect.same(call('share_of', 0, 143912), '0%')
    expect.same(call('share_of', 72000, 143912), '50%')
  end),
  test('times and ages', function()
    local noon = call('time', '2026-11-21T12:00:00Z')
    expect.same(noon, 1795262400)
    expect.same(call('time', '2024-02-29T23:59:59.5+02:00'), 1709243999.5)
    for minutes, want in pairs({
      [0] = 'just now',
      [5] = '5 min ago',
      [90] = '1 h ago',
      [3000] = '2 days ago',
      [-5] = 'just now',
    }) do
      expect.same(call('age', '2026-11-21T12:00:00Z', noon + minutes * 60), want)
    end
    -- The editor's clock has no fractions: within one second, nothing is younger than it is.
    expect.same(call('age', '2026-11-21T12:00:00.999Z', noon + 300), '5 min ago')
  end),
}

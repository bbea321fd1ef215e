-- A machine of a test's own: home directory, environment, project. Agents on it are payloads that were captured from the
-- real Claude Code, fed to real processes of ctxls.
local repo = vim.fs.normalize(vim.fs.dirname(vim.uv.fs_realpath(arg[0])) .. '/../../..')
local testdata = repo .. '/internal/host/claudecode/testdata'

local M = { repo = repo, plugin = repo .. '/editors/neovim', ctxls = assert(vim.env.CTXLS, 'CTXLS names the server') }
local Machine, Agent = {}, {}
Machine.__index, Agent.__index = Machine, Agent

---Returns a fresh machine, with ctxls on the PATH where nothing else is said.
function M.new(options)
  local home = assert(vim.uv.fs_mkdtemp((vim.env.TMPDIR or '/tmp') .. '/ctxls-nvim-XXXXXX'))
  local bin = home .. '/bin'
  vim.fn.mkdir(bin)
  vim.fn.mkdir(home .. '/shop/.git', 'p')
  if not options or options.ctxls ~= false then
    assert(vim.uv.fs_symlink(M.ctxls, bin .. '/ctxls'))
  end
  cleanup(function()
    vim.fn.delete(home, 'rf')
  end)
  return setmetatable({
    home = home,
    bin = bin,
    project = home .. '/shop',
    env = {
      HOME = home,
      PATH = bin .. ':/usr/local/bin:/usr/bin:/bin',
      LANG = 'C.UTF-8',
      TERM = 'xterm-256color',
      TMPDIR = home,
      CTXLS_WAIT = '10000', -- no hook gives up while the machine is busy
    },
  }, Machine)
end

---Runs ctxls and returns what it prints, and what on standard error.
function Machine:run(args, input)
  local command = vim.list_extend({ M.ctxls }, args)
  local result = vim.system(command, { env = self.env, clear_env = true, stdin = input, cwd = self.project }):wait()
  assert(result.code == 0, result.stderr)
  return result.stdout, result.stderr
end

local function read(path)
  local file = assert(io.open(path))
  local text = file:read('*a')
  file:close()
  return text
end

---How many hooks said in the log that they could not do what they should.
function Machine:given_up()
  local found, log = pcall(read, self.home .. '/.local/state/ctxls/ctxls.log')
  return found and select(2, log:gsub('hook gave up', '')) + select(2, log:gsub('hook failed', '')) or 0
end

---Has hooks tell the same until one does so in time, as a host's next event would, and returns what that one prints. On a
---machine that is busy with other things one may give up, which is what it promises.
function Machine:heard(args, input)
  for _ = 1, 50 do
    local before = self:given_up()
    local printed, complained = self:run(args, input)
    if self:given_up() == before and not complained:find('gave up', 1, true) then
      return printed
    end
  end
  error('50 hooks gave up', 2)
end

---Makes a session so many minutes older than it is.
function Machine:ages(id, minutes)
  local change = [[
import datetime, sqlite3, sys
at = (datetime.datetime.utcnow() - datetime.timedelta(minutes=int(sys.argv[3]))).isoformat() + 'Z'
c = sqlite3.connect(sys.argv[1])
c.execute("UPDATE sessions SET updated_at = updated_at - ?, data = json_set(data, '$.updatedAt', ?) WHERE session_id = ?",
          (int(sys.argv[3]) * 60000, at, sys.argv[2]))
assert c.total_changes == 1
c.commit()]]
  local state = self.home .. '/.local/state/ctxls/state.db'
  local result = vim.system({ 'python3', '-c', change, state, id, tostring(minutes) }):wait()
  assert(result.code == 0, result.stderr)
end

---The processes of ctxls that editors of this machine started and that are still there.
function Machine:servers()
  local found = {}
  for name in vim.fs.dir('/proc') do
    local file = name:match('^%d+$') and io.open('/proc/' .. name .. '/environ')
    local environ = file and file:read('*a')
    local command = file and io.open('/proc/' .. name .. '/cmdline')
    if environ and command and environ:find('HOME=' .. self.home .. '\0', 1, true) then
      if command:read('*a'):find('\0serve\0', 1, true) then
        found[#found + 1] = tonumber(name)
      end
    end
    if file then
      file:close()
    end
    if command then
      command:close()
    end
  end
  return found
end

---A session in a directory, the project's where none is given.
function Machine:agent(id, cwd)
  local transcript = ('%s/.claude/projects/p/%s.jsonl'):format(self.home, id)
  vim.fn.mkdir(vim.fs.dirname(transcript), 'p')
  return setmetatable(
    { machine = self, id = id, cwd = cwd or self.project, transcript = transcript, responses = 0 },
    Agent
  )
end

---A captured payload, as it would be of this session.
function Agent:payload(name, changes)
  local captured = vim.json.decode(read(('%s/payloads/%s.json'):format(testdata, name)))
  local own = { session_id = self.id, transcript_path = self.transcript, cwd = self.cwd }
  return vim.json.encode(vim.tbl_extend('force', captured, own, changes or {}))
end

---Runs `ctxls hook claude-code` on a captured payload.
function Agent:hook(name, changes)
  if name == 'UserPromptSubmit' then -- told twice, one prompt is one
    self.prompts = (self.prompts or 0) + 1
    changes = vim.tbl_extend('keep', changes or {}, { prompt_id = ('prompt-%d'):format(self.prompts) })
  end
  return self.machine:heard({ 'hook', 'claude-code' }, self:payload(name, changes))
end

---Claude Code's status line, with what is in the window and its size.
function Agent:statusline(tokens, changes, window)
  local usage = {
    input_tokens = 12,
    cache_creation_input_tokens = 0,
    cache_read_input_tokens = tokens - 12,
    output_tokens = 77,
  }
  local context_window = { context_window_size = window or 200000, current_usage = usage }
  local all = vim.tbl_extend('force', { context_window = context_window }, changes or {})
  return self.machine:heard({ 'statusline' }, self:payload('StatusLine.72pct', all))
end

---Appends a line to the transcript: a captured one that holds a text, with members of the test's own.
---@param kind string a text that only the captured line has
---@param change fun(message: table, line: table)
---@param name? string the transcript that the line was captured in
function Agent:write(kind, change, name)
  local line
  for captured in vim.gsplit(read(('%s/transcripts/%s.jsonl'):format(testdata, name or 'basic')), '\n') do
    if captured:find(kind, 1, true) then
      line = vim.json.decode(captured)
      break
    end
  end
  change(line.message, line)
  self.lines = (self.lines or 0) + 1
  line.toolUseResult = nil
  line.uuid = ('line-%s-%d'):format(self.id, self.lines)
  local at = os.time() - 60 * (self.ago or 0)
  line.timestamp = os.date('!%Y-%m-%dT%H:%M:%S.', at) .. ('%03dZ'):format(select(2, vim.uv.gettimeofday()) / 1000)
  line.sessionId, line.cwd = self.id, self.cwd
  local file = assert(io.open(self.transcript, 'a'))
  file:write(vim.json.encode(line), '\n')
  file:close()
end

---Writes an answer into the transcript, `self.ago` minutes old, as Claude Code does before it calls its hooks.
---@param tokens integer what the window held
---@param content? table
function Agent:answer(tokens, content)
  self.responses = self.responses + 1
  self:write(content and '"type":"tool_use"' or '"text":"FINAL-ANSWER', function(message)
    message.id = ('msg_%s_%d'):format(self.id, self.responses)
    message.content = content or message.content
    message.usage = vim.tbl_extend('force', message.usage, {
      input_tokens = 12,
      cache_creation_input_tokens = 0,
      cache_read_input_tokens = tokens - 12,
    })
  end)
end

---Writes a compaction into the transcript. A hook tells of it only if it is of now.
function Agent:compacted(before, after)
  self:write('"subtype":"compact_boundary"', function(_, line)
    line.compactMetadata = { trigger = 'auto', preTokens = before, postTokens = after }
  end, 'compact-auto')
end

---Reads a file of so many tokens: the call, and its result, in pieces of the size that a host returns at once.
---@param path string
---@param tokens integer
---@param held integer what the window held before
function Agent:look(path, tokens, held)
  for _ = 1, math.max(1, math.ceil(tokens / 4000)) do
    self.calls = (self.calls or 0) + 1
    local id = ('toolu_%s_%d'):format(self.id, self.calls)
    self:answer(held + 60, {
      { type = 'tool_use', id = id, name = 'Read', input = { file_path = self.cwd .. '/' .. path } },
    })
    self:write('"type":"tool_result"', function(message)
      local text = ('func Total(cart Cart) (Money, error) {\n'):rep(math.floor(math.min(tokens, 4000) / 10))
      message.content = { { type = 'tool_result', tool_use_id = id, content = text } }
    end)
  end
end

---One turn: a prompt, an answer for which the window held so many tokens, and the end of it.
function Agent:turn(tokens)
  self:hook('UserPromptSubmit', { prompt = 'go on' })
  self:answer(tokens)
  self:hook('Stop')
end

---Has tools run on files.
function Agent:reads(...)
  local calls = {}
  for i, path in ipairs({ ... }) do
    calls[i] = {
      tool_name = 'Read',
      tool_input = { file_path = self.cwd .. '/' .. path },
      tool_use_id = 'toolu_' .. i,
      tool_response = '1\tpackage main\n',
    }
  end
  self:hook('PostToolBatch.parallel', { tool_calls = calls })
end

return M

// The plugin against the real ctxls: `node --test`, with CTXLS_BIN naming the program. What OpenCode does is played here: it calls
// hooks one after another and waits for each; what it is told is asked of ctxls itself.
import assert from "node:assert/strict"
import { execFileSync, spawn } from "node:child_process"
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { after, beforeEach, test } from "node:test"

const bin = process.env.CTXLS_BIN
const home = mkdtempSync(join(tmpdir(), "ctxls-plugin-"))
Object.assign(process.env, { HOME: home, XDG_STATE_HOME: join(home, "state"), XDG_CONFIG_HOME: join(home, "config") })
delete process.env.CTXLS_DISABLE
const { Ctxls, ...rest } = await import("./ctxls.js")
const directory = join(home, "project")
const shared = globalThis[Symbol.for("ctxls.opencode")]
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

let hooks
beforeEach(async () => {
  process.env.CTXLS_BIN = bin
  await hooks?.dispose()
  hooks = await Ctxls({ directory })
})
after(async () => {
  await hooks.dispose()
  rmSync(home, { recursive: true, force: true, maxRetries: 3 })
})

const sessions = () => JSON.parse(execFileSync(bin, ["sessions", "--all", "--json"], { encoding: "utf8" }))
const session = (id) => sessions().find((s) => s.sessionId === id)

async function eventually(what, holds) {
  for (const until = Date.now() + 120_000; !(await holds()); await sleep(30)) assert.ok(Date.now() < until, "never: " + what)
}

let ids = 0
const newID = (kind) => `${kind}_${String(++ids).padStart(4, "0")}`

// What OpenCode calls plugins with, in the shape of its version 1.18.
const event = (type, properties) => hooks.event({ event: { id: newID("evt"), type, properties } })
const created = (id, more = {}) => event("session.created", { sessionID: id, info: { id, directory, title: "a title", ...more } })
const params = (id) =>
  hooks["chat.params"](
    {
      sessionID: id, agent: "build", message: { model: { modelID: "claude-sonnet-4-5" } }, provider: { source: "config", options: { apiKey: "sk-secret" } },
      model: { id: "claude-sonnet-4-5", providerID: "anthropic", api: { npm: "@ai-sdk/anthropic" }, limit: { context: 200_000, output: 32_000 } },
    },
    { maxOutputTokens: 32_000 },
  )
async function prompt(id, text) {
  const message = newID("msg")
  const output = { message: { id: message }, parts: [{ id: newID("prt"), sessionID: id, messageID: message, type: "text", text }] }
  await hooks["chat.message"]({ sessionID: id }, output)
  return output.parts
}
async function tool(id, name, args, output = { title: "", output: "content", metadata: {} }) {
  const input = { tool: name, sessionID: id, callID: newID("call") }
  await hooks["tool.execute.before"](input, { args })
  await hooks["tool.execute.after"]({ ...input, args }, output)
  return output
}
async function answer(id, total, parts = [], more = {}) {
  const info = { id: newID("msg"), sessionID: id, role: "assistant", modelID: "claude-sonnet-4-5", time: { created: Date.now() } }
  await event("message.updated", { sessionID: id, info })
  for (const part of parts) await event("message.part.updated", { sessionID: id, part: { id: newID("prt"), messageID: info.id, sessionID: id, ...part } })
  const tokens = { total, input: 12, output: 77, reasoning: 0, cache: { read: total - 12 - 77, write: 0 } }
  await event("message.updated", { sessionID: id, info: { ...info, tokens, time: { ...info.time, completed: Date.now() }, ...more } })
  await event("message.updated", { sessionID: id, info: { ...info, tokens, time: { ...info.time, completed: Date.now() }, ...more } })
}
async function compact(id, output = { context: [], prompt: undefined }) {
  await hooks["experimental.session.compacting"]({ sessionID: id }, output)
  return output
}
const tokens = (id, want) => eventually(`${id} holds ${want}`, () => session(id)?.usage.tokens === want)
const kill = (signal) => process.kill(shared.server.child.pid, signal)
const timed = async (what) => {
  const start = performance.now()
  await what()
  return performance.now() - start
}
const gone = (pid) => {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ")
  } catch {
    return true
  }
}

// On a machine that is busy with something else, any answer may be later than the 300 ms that a hook waits: silence is right then.
// What is said is therefore given some chances.
const patient = (body) => async () => {
  for (let tries = 1; ; tries++) {
    try {
      return await body()
    } catch (error) {
      if (tries === 10) throw error
    }
  }
}

test("there is one export, and it is the plugin", () => assert.deepEqual(Object.keys(rest), []))

test("a conversation: the mark with the prompt, the reminder once, the paths into the summary", patient(async () => {
  const id = newID("ses")
  await created(id)
  assert.equal((await prompt(id, "hello")).length, 1, "no mark before anything is known")
  await params(id)
  assert.equal((await tool(id, "read", { filePath: join(directory, "a.go") })).output, "content")
  await answer(id, 141_000)
  await tokens(id, 141_000)
  const { output } = await tool(id, "edit", { filePath: join(directory, "b.go") })
  assert.match(output, /^content\n\nctxls: about 29\.5% .*\n\[Context Status: 70\.5% used \(141,000\/200,000 tokens\), 29\.5% remaining\]$/)
  assert.equal((await tool(id, "read", { filePath: join(directory, "c.go") })).output, "content", "said once")
  const [typed, guidance, mark] = await prompt(id, "go on")
  assert.match(guidance.text, /^ctxls measures how full /)
  assert.equal(typed.text, "go on")
  assert.deepEqual({ ...mark, id: undefined }, { type: "text", text: "[context used: 71%]", synthetic: true, sessionID: id, messageID: typed.messageID, id: undefined })
  assert.ok(mark.id.startsWith("prt_") && mark.id > guidance.id && guidance.id > typed.id, "it comes after what was typed")
  const compacting = await compact(id)
  assert.deepEqual(compacting.context, ["ctxls: working context\nCurrent file paths in context:\n  - a.go\n  - b.go\n  - c.go"])
  assert.equal(compacting.prompt, undefined)
}))

test("with prune.enabled, what a plan finds is left out of requests, stays out, and comes back", patient(async () => {
  const config = join(home, "config", "ctxls", "config.json")
  const enable = (enabled) => {
    mkdirSync(dirname(config), { recursive: true })
    writeFileSync(config, JSON.stringify({ prune: { enabled } }))
  }
  enable(true)
  await hooks.dispose()
  hooks = await Ctxls({ directory })
  const id = newID("ses")
  await created(id)
  await params(id)
  await prompt(id, "hello")
  await answer(id, 30_000)
  await tokens(id, 30_000)
  const user = (text) => ({ info: { id: newID("msg"), sessionID: id, role: "user" }, parts: [{ id: newID("prt"), sessionID: id, type: "text", text }] })
  const said = (...parts) => ({ info: { id: newID("msg"), sessionID: id, role: "assistant" }, parts: parts.map((part) => ({ id: newID("prt"), sessionID: id, ...part })) })
  const tool = (name, input, output) => ({ type: "tool", tool: name, callID: newID("call"), state: { status: "completed", input, output } })
  const old = "the first version of the file, line by line, and more of it\n".repeat(200)
  const small = Array.from({ length: 30 }, () => [user("go on"), said({ type: "text", text: "done" })]).flat()
  const messages = [
    ...small, user("mend it"), said(tool("read", { filePath: "/a.go" }, old)), said(tool("write", { filePath: "/a.go", content: "new" }, "ok")),
    ...small.slice(0, 8).map(({ info, parts }) => ({ info: { ...info, id: newID("msg") }, parts: parts.map((part) => ({ ...part, id: newID("prt") })) })),
  ]
  const at = small.length + 1
  const whole = JSON.stringify(messages)
  const request = async () => {
    const output = { messages: [...messages] }
    await hooks["experimental.chat.messages.transform"]({}, output)
    return output.messages
  }
  const sent = await request()
  const [part] = sent[at].parts
  assert.match(part.state.output, /^\[tool result cleared by ctxls: \d+ tokens\]$/)
  assert.deepEqual(part.state.input, { filePath: "/a.go" })
  assert.equal(JSON.stringify(messages), whole, "the host's own messages stay")
  assert.deepEqual(sent.filter((_, i) => i !== at), messages.filter((_, i) => i !== at), "nothing else changes")

  messages.push(user("more"), said({ type: "text", text: "sure" }))
  const again = await request()
  assert.equal(JSON.stringify(again.slice(0, sent.length)), JSON.stringify(sent), "the cache keeps what it has")

  kill("SIGSTOP")
  let meanwhile
  const took = await timed(async () => (meanwhile = await request()))
  assert.ok(took >= 250 && took < 600, `took ${took} ms`)
  assert.deepEqual(meanwhile, again, "a server that hangs: what was left out last")
  await answer(id, 31_000)
  await tokens(id, 31_000)

  assert.match(execFileSync(bin, ["plan", "--undo", id], { encoding: "utf8" }), /^1 part back/)
  assert.deepEqual(await request(), messages, "undone")

  enable(false)
  assert.deepEqual(await request(), messages, "switched off")
  rmSync(config)
}))

test("a reminder on the result of an MCP tool, which has content in place of output", patient(async () => {
  const id = newID("ses")
  await prompt(id, "hello")
  await params(id)
  await answer(id, 150_000)
  await tokens(id, 150_000)
  const { content } = await tool(id, "mcp_thing", {}, { content: [{ type: "text", text: "own" }] })
  assert.equal(content.length, 2)
  assert.match(content[1].text, /^ctxls: about 25\.0%/)
}))

test("a prompt that another plugin sets keeps the working context, in either order of the calls", patient(async () => {
  const id = newID("ses")
  await prompt(id, "hello")
  await tool(id, "read", { filePath: join(directory, "a.go") })
  const ours = "ctxls: working context\nCurrent file paths in context:\n  - a.go"
  const before = await compact(id, { context: ["theirs"], prompt: "their prompt" })
  assert.equal(before.prompt, "their prompt\n\n" + ours)
  const behind = await compact(id)
  behind.prompt = "their prompt"
  assert.equal(behind.prompt, "their prompt\n\n" + ours)
  behind.prompt += "\n\nand more"
  assert.equal(behind.prompt.split(ours).length, 2, "it stands there once, though another adds to what it finds")
  behind.prompt = "theirs: " + behind.context.join("\n")
  assert.equal(behind.prompt, "theirs: " + ours, "nor twice, where another takes the context over")
}))

test("traps: sums of the session, the summary's own tokens, tools that fail, sub-agents", patient(async () => {
  const id = newID("ses"), child = newID("ses")
  await created(id)
  await params(id)
  await answer(id, 50_000)
  await tokens(id, 50_000)
  await event("session.updated", { sessionID: id, info: { id, directory, title: "another", tokens: { input: 1, output: 1, cache: { read: 766_000, write: 0 } } } })
  await eventually("the title is known", () => session(id).title === "another")
  const call = { tool: "read", sessionID: id, callID: newID("call") }
  await hooks["tool.execute.before"](call, { args: { filePath: join(directory, "missing.go") } })
  await event("message.part.updated", {
    sessionID: id,
    part: { ...call, id: newID("prt"), messageID: "msg", type: "tool", state: { status: "error", input: { filePath: join(directory, "missing.go") }, error: "no such file" } },
  })
  await tool(id, "read", { filePath: join(directory, "there.go") })
  await created(child, { parentID: id, agent: "general", title: "a child" })
  await prompt(child, "look")
  await tool(child, "read", { filePath: join(directory, "deep.go") })
  await answer(child, 90_000)
  await eventually("the sub-agent is known", () => session(id).agents[0]?.usage.tokens === 90_000)
  await event("session.idle", { sessionID: child })
  await eventually("the sub-agent has ended", () => session(id).agents.length === 0)
  let s = session(id)
  assert.equal(s.usage.tokens, 50_000)
  assert.equal(s.title, "another")
  assert.deepEqual(s.workingSet, ["there.go"])
  assert.equal(session(child), undefined)
  await compact(id)
  await answer(id, 150_077, [{ type: "text", text: "A summary that names nothing." }], { summary: true, mode: "compaction", agent: "compaction" })
  await event("session.compacted", { sessionID: id })
  await eventually("it is compacted", () => session(id).compactions === 1)
  s = session(id)
  assert.ok(!s.usage.exact && s.usage.tokens < 100_000, "the summary's own tokens are not the fill")
  const parts = await prompt(id, "go on")
  assert.match(parts.at(-1).text, /its summary does not name:\n  - there\.go$/)
}))

test("what an answer is made of is estimated after its report", async () => {
  const id = newID("ses")
  await params(id)
  await answer(id, 50_000, [
    { type: "tool", tool: "read", callID: "c", state: { status: "completed", input: { filePath: "/x" }, output: "some words of a file\n".repeat(2_000) } },
  ])
  await tokens(id, 50_000)
  const { projectedTokens } = session(id).usage
  assert.ok(projectedTokens > 55_000 && projectedTokens < 75_000, `projected ${projectedTokens}`)
})

test("history once a session: paths and usage of a session that was there before ctxls", async () => {
  const id = newID("ses")
  const message = (info, parts) => ({ info: { id: newID("msg"), sessionID: id, time: { created: Date.now() - 9_000, completed: Date.now() - 8_000 }, ...info }, parts })
  const done = (name, file, status = "completed") => ({ type: "tool", tool: name, state: { status, input: { filePath: join(directory, file) } } })
  const messages = [
    message({ role: "user" }, [{ type: "text", text: "before" }]),
    message({ role: "assistant", tokens: { input: 12, output: 77, cache: { read: 60_000, write: 0 } } }, [done("read", "old.go"), done("read", "no.go", "error")]),
  ]
  const show = () => hooks["experimental.chat.messages.transform"]({}, { messages })
  await show()
  await tokens(id, 60_089)
  assert.deepEqual(session(id).workingSet, ["old.go"])
  messages.push(message({ role: "assistant" }, [done("read", "later.go")]))
  await show()
  await tool(id, "read", { filePath: join(directory, "now.go") })
  await eventually("the next tool is known", () => session(id).workingSet.includes("now.go"))
  assert.ok(!session(id).workingSet.includes("later.go"), "it is shown once")
})

test("no key and no more of the provider than is needed leaves the host", async () => {
  const id = newID("ses")
  const call = shared.server.call
  const seen = []
  shared.server.call = function (what, options) {
    seen.push(JSON.stringify(what))
    return call.call(this, what, options)
  }
  await params(id)
  await params(id)
  shared.server.call = call
  assert.equal(seen.length, 1, "and it is told once")
  assert.ok(!seen[0].includes("sk-secret"))
})

test("a session that was deleted is forgotten, also when ctxls was down, and what comes late does not bring it back", async () => {
  const id = newID("ses")
  await created(id)
  await tokensOf(id)
  kill("SIGKILL")
  await event("session.deleted", { sessionID: id, info: { id, directory } })
  await event("session.idle", { sessionID: id })
  await answer(id, 1_000)
  await prompt(id, "late")
  await params(id)
  await tool(id, "read", { filePath: join(directory, "late.go") })
  await hooks["experimental.chat.messages.transform"]({}, { messages: [{ info: { id: newID("msg"), sessionID: id, role: "assistant" }, parts: [] }] })
  await compact(id)
  await eventually("it is forgotten", () => !session(id))
  await sleep(200)
  assert.equal(session(id), undefined)
})
const tokensOf = async (id) => {
  await params(id)
  await answer(id, 10_000)
  await tokens(id, 10_000)
}

test("a server that is killed comes back; nothing is lost, and no call waits", patient(async () => {
  const id = newID("ses")
  await tokensOf(id)
  const pid = shared.server.child.pid
  kill("SIGKILL")
  const took = await timed(() => tool(id, "read", { filePath: join(directory, "while.go") }))
  assert.ok(took < 400, `took ${took} ms`)
  await answer(id, 20_000)
  await tokens(id, 20_000)
  assert.notEqual(shared.server.child.pid, pid)
  assert.deepEqual(session(id).workingSet, ["while.go"])
}))

test("a server that hangs costs 300 ms once, is killed, and comes back", patient(async () => {
  const id = newID("ses")
  await tokensOf(id)
  const pid = shared.server.child.pid
  kill("SIGSTOP")
  const first = await timed(() => tool(id, "read", { filePath: join(directory, "one.go") }))
  assert.ok(first >= 250 && first < 600, `the first took ${first} ms`)
  for (let i = 0; i < 20; i++) {
    const next = await timed(() => tool(id, "read", { filePath: join(directory, "two.go") }))
    assert.ok(next < 150, `a later one took ${next} ms`)
  }
  await eventually("the one that hung is gone", () => gone(pid))
  await answer(id, 30_000)
  await tokens(id, 30_000)
}))

test("a host that ends with a server that hangs waits 300 ms for it and kills it", patient(async () => {
  const id = newID("ses")
  await tokensOf(id)
  const pid = shared.server.child.pid
  kill("SIGSTOP")
  const took = await timed(() => hooks.dispose())
  assert.ok(took < 600, `took ${took} ms`)
  await eventually("it is gone", () => gone(pid))
}))

test("dispose lets the server finish what it was told", async () => {
  const id = newID("ses")
  await tokensOf(id)
  for (let i = 1; i <= 50; i++) await answer(id, 10_000 + i)
  await hooks.dispose()
  await tokens(id, 10_050)
})

test("the queue is bounded while the server hangs", async () => {
  const id = newID("ses")
  await tokensOf(id)
  kill("SIGSTOP")
  const big = "x".repeat(200_000)
  for (let i = 0; i < 600; i++) await tool(id, "write", { filePath: join(directory, `f${i}.go`), content: big })
  assert.ok(shared.server.calls.length <= 512 && shared.server.bytes <= 16 << 20, `${shared.server.calls.length} calls, ${shared.server.bytes} bytes`)
})

test("a program that is not there, that is none, that fails, or that talks nonsense harms nothing", patient(async () => {
  const fake = join(home, "fake")
  const shapes = ["", "exit 3", "echo hello; exec sleep 60", "exec yes", "exec cat /dev/zero", "exec cat > /dev/null", "exec sleep 60"]
  for (const shape of shapes) {
    await hooks.dispose()
    if (shape) {
      writeFileSync(fake, `#!/bin/sh\n${shape}\n`)
      chmodSync(fake, 0o755)
    }
    process.env.CTXLS_BIN = shape ? fake : join(home, "nowhere")
    const path = process.env.PATH
    if (!shape) process.env.PATH = "relative:/nowhere"
    hooks = await Ctxls({ directory })
    const id = newID("ses")
    const took = await timed(async () => {
      assert.equal((await prompt(id, "hello")).length, 1)
      assert.equal((await tool(id, "read", {})).output, "content")
    })
    process.env.PATH = path
    assert.ok(took < 900, `${shape}: took ${took} ms`)
  }
}))

test("CTXLS_WAIT is how long an answer is waited for", () => {
  const fake = join(home, "silent")
  writeFileSync(fake, "#!/bin/sh\nexec sleep 60\n", { mode: 0o755 })
  const script = `const { Ctxls } = await import(${JSON.stringify(new URL("./ctxls.js", import.meta.url).href)})
    const hooks = await Ctxls({ directory: "/" })
    const start = Date.now()
    await hooks["tool.execute.after"]({ tool: "read", sessionID: "s", callID: "c" }, { title: "", output: "content", metadata: {} })
    console.log(Date.now() - start)
    process.exit()`
  const env = { ...process.env, CTXLS_BIN: fake, CTXLS_WAIT: "1500" }
  const took = Number(execFileSync(process.execPath, ["--input-type=module", "-e", script], { env, encoding: "utf8" }))
  assert.ok(took >= 1400, `waited ${took} ms`)
})

test("an answer that comes too late is said with the next tool, unless it is none or the session was compacted meanwhile", async () => {
  const id = newID("ses")
  const call = shared.server.call
  let late
  shared.server.call = async (_, options) => void (late = options.tooLate ?? late)
  const said = { output: JSON.stringify({ output: " said" }) }
  const next = async () => (await tool(id, "read", {})).output
  assert.equal(await next(), "content")
  late(said)
  assert.equal(await next(), "content said")
  assert.equal(await next(), "content", "once")
  late(said)
  await event("session.compacted", { sessionID: id })
  assert.equal(await next(), "content", "what is of before the compaction is not said after it")
  late(said)
  shared.server.call = async () => ({ output: JSON.stringify({ output: " more" }) })
  assert.equal(await next(), "content said more", "one does not put the other out")
  for (const none of [undefined, {}, { output: "{" }, { output: 7 }]) late(none)
  shared.server.call = async (_, options) => void (late = options.tooLate ?? late)
  await next()
  assert.equal((await prompt(id, "go on")).length, 1)
  late({ output: JSON.stringify({ parts: [{ type: "text", text: "guidance" }, { type: "text", text: "[context used: 71%]" }, { type: "text", text: "lost" }] }) })
  assert.equal(await next(), "content\n\nguidance\n\nlost", "what came too late for a prompt, but for the mark")
  await prompt(id, "go on")
  for (const none of [undefined, {}, { output: "{" }, { output: "{}" }, { output: '{"parts": [{"type": "text", "text": "[context used: 71%]"}]}' }]) late(none)
  assert.equal(await next(), "content")
  shared.server.call = call
})

test("a directory of the program's name is not taken for it", patient(async () => {
  await hooks.dispose()
  process.env.CTXLS_BIN = home // may be entered, and so passes for executable
  const path = process.env.PATH
  process.env.PATH = dirname(bin)
  hooks = await Ctxls({ directory })
  const id = newID("ses")
  await created(id)
  const pid = shared.server.child?.pid
  process.env.PATH = path
  assert.ok(pid, "the one on the PATH is")
  await eventually("it is told", () => session(id))
}))

test("a host that can open no further file goes on", async (t) => {
  if (process.platform === "win32") return t.skip("Windows has no such limit")
  const code = `
    import { openSync } from "node:fs"
    const { Ctxls } = await import(${JSON.stringify(new URL("./ctxls.js", import.meta.url).href)})
    const hooks = await Ctxls({ directory: "/p" })
    try { for (;;) openSync("/dev/null") } catch {}
    await hooks["chat.message"]({ sessionID: "s" }, { message: {}, parts: [] })
    setTimeout(() => console.log("fine"), 1_500) // the server is started again after a second`
  const args = ["-c", 'ulimit -n 128; exec "$0" --input-type=module -e "$1"', process.execPath, code]
  const host = spawn("/bin/sh", args, { stdio: ["ignore", "pipe", "inherit"], detached: true }) // a group of its own: see Server.start
  let printed = ""
  host.stdout.on("data", (text) => (printed += text))
  await new Promise((resolve) => host.once("close", resolve))
  assert.equal(printed, "fine\n")
})

test("arguments of any shape are no reason to throw", async () => {
  const circular = {}
  circular.circular = circular
  for (const strange of [undefined, null, 1, "x", [], {}, { sessionID: 1 }, circular, { event: null }, { event: { type: "constructor" } }, { messages: [null] }, { big: 1n }]) {
    for (const [name, hook] of Object.entries(hooks)) if (name !== "dispose") await hook(strange, strange)
  }
})

test("CTXLS_DISABLE=1 turns it off", async () => {
  process.env.CTXLS_DISABLE = "1"
  assert.deepEqual(await Ctxls({ directory: "/elsewhere" }), {})
  delete process.env.CTXLS_DISABLE
})

test("installed twice, it speaks once", async () => {
  const copy = join(home, "copy.mjs")
  writeFileSync(copy, readFileSync(new URL("./ctxls.js", import.meta.url)))
  const { Ctxls: Second } = await import(copy)
  assert.deepEqual(await Second({ directory }), {})
  const other = await Second({ directory: "/elsewhere" })
  assert.ok(other["chat.message"])
  await other["chat.message"]({ sessionID: "x" }, { message: {}, parts: [] })
  assert.equal(shared.server.users, 2, "with one server")
  await other.dispose()
})

for (const [signal, stopped] of [["SIGTERM", false], ["SIGKILL", false], ["SIGTERM", true], ["SIGKILL", true], ["exit", true], ["end", false]]) {
  test(`a host that ends by ${signal} leaves no server${stopped ? ", not even one that is stopped" : ""}`, async (t) => {
    if (process.platform !== "linux") return t.skip("only Linux shows the processes in /proc")
    const code = `
      const { Ctxls } = await import(${JSON.stringify(new URL("./ctxls.js", import.meta.url).href)})
      const hooks = await Ctxls({ directory: "/p" })
      await hooks["chat.message"]({ sessionID: "s" }, { message: {}, parts: [] })
      console.log(globalThis[Symbol.for("ctxls.opencode")].server.child.pid)
      ${signal === "end" ? "" : `await new Promise((resolve) => process.stdin.once("data", resolve))
      if (${signal === "exit"}) { await hooks["tool.execute.after"]({ sessionID: "s" }, {}); process.exit(0) }`}`
    const host = spawn(process.execPath, ["--input-type=module", "-e", code], { stdio: ["pipe", "pipe", "inherit"] })
    const pid = Number(await new Promise((resolve) => host.stdout.once("data", resolve)))
    if (stopped) process.kill(pid, "SIGSTOP")
    const ended = new Promise((resolve) => host.once("exit", resolve))
    if (signal.startsWith("SIG")) process.kill(host.pid, signal)
    else host.stdin.write("\n")
    await ended
    await eventually("the server is gone", () => gone(pid))
  })
}

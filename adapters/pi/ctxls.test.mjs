// The extension against the real ctxls: `node --test`, with CTXLS_BIN naming the program. What pi does is played here: it calls handlers
// one after another and waits for each.
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, test } from "node:test"

const bin = process.env.CTXLS_BIN
const home = mkdtempSync(join(tmpdir(), "ctxls-extension-"))
Object.assign(process.env, { HOME: home, XDG_STATE_HOME: join(home, "state"), XDG_CONFIG_HOME: join(home, "config") })
delete process.env.CTXLS_DISABLE
after(() => rmSync(home, { recursive: true, force: true, maxRetries: 3 }))

// The time to wait is read when the module is.
let copies = 0
async function load(program, wait = "") {
  Object.assign(process.env, { CTXLS_BIN: program, CTXLS_WAIT: wait })
  const copy = join(home, `ctxls${++copies}.mjs`) // as a module, whatever the directory
  copyFileSync(new URL("./ctxls.js", import.meta.url), copy)
  const { default: extension, ...rest } = await import(copy)
  assert.deepEqual(rest, {})
  const handlers = {}
  extension({ on: (name, handler) => (handlers[name] = handler) })
  return handlers
}

const context = (id, tokens) => ({
  cwd: join(home, "project"),
  model: { id: "mock-model", provider: "mock", contextWindow: 128_000, maxTokens: 16_000 },
  sessionManager: { getSessionId: () => id, getSessionFile: () => undefined },
  getContextUsage: () => ({ tokens, contextWindow: 128_000 }),
})
const session = (id) => JSON.parse(execFileSync(bin, ["sessions", "--all", "--json"], { encoding: "utf8" })).find((s) => s.sessionId === id)
async function timed(what) {
  const start = performance.now()
  await what()
  return performance.now() - start
}
const fake = (shape) => {
  const path = join(home, `fake${++copies}`)
  writeFileSync(path, `#!/bin/sh\n${shape}\n`, { mode: 0o755 })
  return path
}

test("a conversation: usage, the mark, a compaction", async () => {
  const pi = await load(bin, "20000")
  const ctx = context("one", 64_000)
  pi.session_start({ reason: "startup" }, ctx)
  assert.equal(await pi.before_agent_start({ prompt: "hello" }, ctx), undefined, "no mark before anything is known")
  const content = [{ type: "text", text: "content" }]
  assert.equal(await pi.tool_result({ toolName: "read", toolCallId: "c", input: { path: "a.go" }, content }, ctx), undefined)
  pi.agent_end({}, ctx)
  const { message } = await pi.before_agent_start({ prompt: "go on" }, ctx)
  assert.equal(message.display, false)
  assert.match(message.content, /\[context used: 50%\]$/)
  pi.session_before_compact({}, ctx)
  pi.session_compact({}, ctx)
  await pi.session_shutdown({ reason: "quit" }, ctx)
  const s = session("one")
  assert.deepEqual([s.usage.windowTokens, s.compactions, s.workingSet], [128_000, 1, ["a.go"]])
})

test("a program that is not there, that fails, that hangs or talks nonsense harms nothing", async () => {
  for (const shape of ["", "exit 3", "echo hello", "exec sleep 60", "exec yes"]) {
    const pi = await load(shape ? fake(shape) : join(home, "nowhere"))
    const path = process.env.PATH
    if (!shape) process.env.PATH = "relative:/nowhere"
    const ctx = context("harmless", 1_000)
    const took = await timed(async () => {
      for (let i = 0; i < 5; i++) {
        assert.equal(await pi.tool_result({ toolName: "read", toolCallId: "c", input: {}, content: [] }, ctx), undefined)
        assert.equal(await pi.before_agent_start({ prompt: "hello" }, ctx), undefined)
      }
      await pi.session_shutdown({}, ctx)
    })
    process.env.PATH = path
    // Eleven waits of 300 ms take 3,300 ms. What hangs is waited for once; what answers at once takes a busy machine's time to start it.
    if (shape.startsWith("exec")) assert.ok(took < 2_000, `${shape}: took ${took} ms`)
  }
})

test("an answer is waited for as long as is said, once", async () => {
  const pi = await load(fake("exec sleep 60"), "2000")
  const call = () => timed(() => pi.before_agent_start({ prompt: "hello" }, context("slow", 1)))
  const first = await call()
  assert.ok(first >= 1_900, `waited ${first} ms`)
  const second = await call()
  assert.ok(second < 1_500, `waited ${second} ms again`)
})

test("arguments of any shape are no reason to throw", async () => {
  const pi = await load(fake("cat > /dev/null"))
  const circular = {}
  circular.circular = circular
  const broken = { ...context("broken", 1), sessionManager: { getSessionId: () => { throw new Error("replaced") } } }
  for (const event of [undefined, null, 1, "x", [], {}, circular, { prompt: 1n }]) {
    for (const ctx of [undefined, null, 1, {}, broken, context("odd", NaN)]) {
      for (const handler of Object.values(pi)) await handler(event, ctx)
    }
  }
})

test("CTXLS_DISABLE=1 turns it off", async () => {
  process.env.CTXLS_DISABLE = "1"
  assert.deepEqual(await load(bin), {})
  delete process.env.CTXLS_DISABLE
})

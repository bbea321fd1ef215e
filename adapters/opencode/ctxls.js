// ctxls plugin for OpenCode. Made by `ctxls install opencode`; `ctxls uninstall opencode` removes it.
//
// It starts one `ctxls serve` for all sessions of this process and hands it what OpenCode calls plugins with; what ctxls says
// in return is added to the output of the hook. OpenCode waits for its hooks without a limit, and a hook that throws
// destroys the result of the tool. So nothing here throws, nothing is waited for longer than 300 ms, and a server that does
// not answer is not waited for again until it does. CTXLS_DISABLE=1 turns all of it off; CTXLS_BIN names another program;
// CTXLS_WAIT is another time to wait, in milliseconds, for slow machines.

import { spawn } from "node:child_process"
import { accessSync, constants, statSync } from "node:fs"
import { delimiter, isAbsolute, join } from "node:path"

const INSTALLED = "" // the program that installed this file; install fills it in

const WAIT = Number(process.env.CTXLS_WAIT) || 300 // ms that a hook waits for an answer, and dispose for the server's end
const HUNG = 5_000 // ms without an answer after which the server is killed
const BACKOFF = 1_000 // ms before the server is started again; doubled each time
const BACKOFF_MAX = 60_000
const STEADY = 30_000 // ms that a server must have run for the next restart to be quick again
const QUEUE_MAX = 512 // calls that wait for an answer
const QUEUE_BYTES = 16 << 20 // and their size together
const REPLY_MAX = 1 << 20 // characters; no answer to a hook is that long
const TEXT_MAX = 256 << 10 // characters of one string, enough for any output of a tool; longer ones are cut
const TRIES = 2 // how often a call is given to a server that dies of it, or beside it
const WAITED = /"late":false\}\}\}\n$/ // the end of a call whose answer the plugin awaits; other calls end otherwise
const FORGOTTEN = '"late":true}}}\n'
const MARK = /^\[context used: / // of a prompt; the next prompt has a newer one
const REMEMBERED = 256 // sessions, and messages that are being made

/** A Map that forgets its oldest entries. */
class Recent extends Map {
  set(key, value) {
    super.delete(key)
    super.set(key, value)
    if (this.size > REMEMBERED) super.delete(this.keys().next().value)
    return this
  }
}

/** Returns the path of the program, undefined where there is none. Never a relative one: a project must not choose it. */
function program() {
  const named = [process.env.CTXLS_BIN, INSTALLED].filter((path) => path && isAbsolute(path))
  const names = process.platform === "win32" ? ["ctxls.exe"] : ["ctxls"]
  for (const dir of (process.env.PATH ?? "").split(delimiter)) {
    if (isAbsolute(dir)) named.push(...names.map((name) => join(dir, name)))
  }
  return named.find((path) => {
    try {
      accessSync(path, constants.X_OK)
      return statSync(path).isFile()
    } catch {
      return false
    }
  })
}

/** The one server of this process: JSON-RPC, a message a line. Calls are answered in order of their sessions. */
class Server {
  calls = [] // not answered yet, oldest first: {id, line, tries, must, resolve}
  bytes = 0 // of their lines
  sent = 0 // how many of them the running server was given
  child = undefined
  trusted = true // it answered what it was last waited for
  startedAt = 0
  delay = BACKOFF
  nextID = 1
  closed = false
  prunes = false // the user has turned prune.enabled on

  /** Queues a call and returns its result, or undefined after WAIT: then tooLate gets it, if it ever comes. must keeps the call when the queue is full. */
  async call(params, { wait = false, must = false, tooLate, method = "hook/handle" } = {}) {
    try {
      const id = this.nextID++
      const line = JSON.stringify({ jsonrpc: "2.0", id, method, params }, cut) + "\n"
      const call = { id, line, must, tooLate, tries: 0, sentAt: 0, resolve: undefined }
      if (!this.enqueue(call)) return undefined
      const answer = wait && this.trusted ? this.answerOf(call) : undefined
      this.flush()
      return await answer
    } catch {
      return undefined
    }
  }

  answerOf(call) {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.trusted = false
        call.resolve = call.tooLate
        resolve(undefined)
      }, WAIT)
      call.resolve = (result) => {
        clearTimeout(timer)
        resolve(result)
      }
    })
  }

  enqueue(call) {
    if (call.line.length > QUEUE_BYTES / 2) return false
    while (this.calls.length >= QUEUE_MAX || this.bytes + call.line.length > QUEUE_BYTES) {
      // What the server was given already is remembered only to be given to the next one.
      const at = this.calls.findIndex((old) => !old.must)
      if (at < 0) return false
      this.drop(at)
    }
    this.calls.push(call)
    this.bytes += call.line.length
    return true
  }

  drop(at) {
    const [call] = this.calls.splice(at, 1)
    this.bytes -= call.line.length
    if (at < this.sent) this.sent--
    call.resolve?.(undefined)
    return call
  }

  /** Gives the server what it was not given yet. */
  flush() {
    if (!this.child && !this.start()) return
    while (this.sent < this.calls.length && !this.child.stdin.writableNeedDrain) {
      const call = this.calls[this.sent++]
      call.tries++
      call.sentAt = Date.now()
      this.child.stdin.write(call.line)
    }
    this.watch()
  }

  start() {
    if (this.closed || this.restart) return false
    const path = program()
    if (!path) return this.retry()
    let child
    try {
      child = spawn(path, ["serve", "--framing", "line"], { stdio: ["pipe", "pipe", "ignore"], windowsHide: true })
    } catch {
      return this.retry()
    }
    if (!child.pid) {
      // Where no further file can be opened it has no pipes either; and killing it kills this process and its group.
      child.on("error", () => {})
      return this.retry()
    }
    this.child = child
    this.startedAt = Date.now()
    this.sent = 0
    const ended = () => this.ended(child)
    child.on("error", ended)
    child.on("close", ended)
    child.stdin.on("error", () => {})
    child.stdin.on("drain", () => child === this.child && this.flush())
    let rest = ""
    child.stdout.setEncoding("utf8")
    child.stdout.on("error", () => {})
    child.stdout.on("data", (text) => {
      const lines = (rest + text).split("\n")
      rest = lines.pop()
      for (const line of lines) {
        if (child.stdout.destroyed) return
        this.answered(child, line)
      }
      if (rest.length > REPLY_MAX) child.kill("SIGKILL")
    })
    for (const handle of [child, child.stdin, child.stdout]) handle.unref?.() // the host may end while it runs
    // The server ends when this process does, however that happens.
    child.stdin.write(
      JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params: { processId: process.pid, clientInfo: { name: "opencode" } } }) + "\n",
    )
    return true
  }

  answered(child, line) {
    if (child !== this.child) return
    let message
    try {
      message = JSON.parse(line)
    } catch {
      child.stdout.destroy() // whatever it is, it is not ctxls
      child.kill("SIGKILL")
      return
    }
    this.trusted = true
    if (message?.id === 0) this.prunes = message.result?.capabilities?.experimental?.ctxls?.prune === true
    const at = this.calls.findIndex((call) => call.id === message?.id)
    if (at < 0) return
    const call = this.calls[at]
    const resolve = call.resolve
    call.resolve = undefined
    this.drop(at)
    resolve?.(message.result)
    this.watch()
  }

  /** Kills the server when the oldest call waits too long: what hangs or is stopped ends in no other way. */
  watch() {
    clearTimeout(this.watchdog)
    if (!this.child || this.sent === 0) return
    const child = this.child
    const left = Math.max(0, this.calls[0].sentAt + HUNG - Date.now())
    this.watchdog = setTimeout(() => child.kill("SIGKILL"), left)
    this.watchdog.unref?.()
  }

  /** The server is gone. What it did not answer goes to the next one; what was waited for is over. */
  ended(child) {
    if (child !== this.child) return
    this.child = undefined
    this.trusted = false
    clearTimeout(this.watchdog)
    for (let at = this.calls.length - 1; at >= 0; at--) {
      const call = this.calls[at]
      call.resolve?.(undefined)
      call.resolve = undefined
      if (at < this.sent && call.tries >= TRIES) this.drop(at)
      else call.line = call.line.replace(WAITED, FORGOTTEN)
    }
    this.sent = 0
    this.retry()
  }

  /** Starts the server again after a while, if there is anything to tell it by then. */
  retry() {
    this.trusted = false
    if (this.closed || this.restart) return false
    if (this.startedAt && Date.now() - this.startedAt > STEADY) this.delay = BACKOFF
    this.restart = setTimeout(() => {
      this.restart = undefined
      if (this.calls.length > 0) this.flush()
    }, this.delay)
    this.restart.unref?.()
    this.delay = Math.min(this.delay * 2, BACKOFF_MAX)
    return false
  }

  /** Ends the server: what it was told is finished first. One that does not end by itself is killed. */
  async close() {
    clearTimeout(this.restart)
    this.restart = undefined
    if (!this.child && this.calls.length > 0) this.start()
    this.closed = true
    const child = this.child
    if (!child) return
    for (; this.sent < this.calls.length; this.sent++) child.stdin.write(this.calls[this.sent].line)
    const gone = new Promise((resolve) => child.once("exit", resolve))
    child.stdin.end()
    await Promise.race([gone, sleep(WAIT)])
    this.abandon()
  }

  /** Leaves the server to itself: the end of its input ends it. One that was stopped is woken for that, one that hangs is killed. */
  abandon() {
    try {
      this.child?.kill(this.trusted ? "SIGCONT" : "SIGKILL")
    } catch {
      // Windows knows no such signal, and stops no process
    }
  }
}

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** Cuts what is too long to be of use, as JSON.stringify goes along. */
function cut(key, value) {
  return typeof value === "string" && value.length > TEXT_MAX ? value.slice(0, TEXT_MAX) : value
}

/** Adds what ctxls says to the output of a hook: to a string at its end, to an array as further elements. */
function add(output, additions) {
  for (const [name, more] of Object.entries(additions)) {
    if (Array.isArray(more) && Array.isArray(output[name])) output[name].push(...more)
    else if (typeof more === "string" && typeof output[name] === "string") output[name] += more
    else if (name === "output" && Array.isArray(output.content)) output.content.push({ type: "text", text: more.trim() }) // of an MCP tool
  }
}

/**
 * Keeps our context at the end of the prompt that another plugin may set, before or after us: the host then drops context. A
 * plugin that takes it over, or adds to the prompt that it finds, has it in its own already.
 */
function keepInPrompt(output, context) {
  let prompt = output.prompt
  const get = () => (typeof prompt === "string" ? [prompt, ...context.filter((text) => !prompt.includes(text))].join("\n\n") : prompt)
  Object.defineProperty(output, "prompt", { get, set: (value) => (prompt = value), enumerable: true, configurable: true })
}

/** How a part of a message is pruned; nothing stands for the part where this returns undefined. The host's own part stays as it is. */
const PRUNE = {
  __proto__: null,
  output: (part, text) => ({ ...part, state: { ...part.state, output: text, attachments: [] } }),
  input: (part, text) => ({ ...part, state: { ...part.state, input: { cleared: text } } }),
  file: ({ id, sessionID, messageID }, text) => ({ id, sessionID, messageID, type: "text", text }),
  part: () => undefined,
}

/** Replaces what ctxls leaves out of a request, in copies of the messages. */
function prune(messages, pruned) {
  const found = new Map()
  for (const one of pruned) found.set(one.partId, [...(found.get(one.partId) ?? []), one])
  for (const [at, message] of messages.entries()) {
    if (!message.parts.some(({ id }) => found.has(id))) continue
    const parts = message.parts.map((part) => (found.get(part.id) ?? []).reduce((part, { what, text }) => part && PRUNE[what]?.(part, text), part))
    messages[at] = { ...message, parts: parts.filter((part) => part) }
  }
}

/** What all plugins of this process share, also where this file is installed twice. */
const shared = (globalThis[Symbol.for("ctxls.opencode")] ??= { server: undefined, owners: new Map() })
const self = Symbol("this file")

/** The plugin. It is the only export, since OpenCode takes every function that is exported for one. */
export const Ctxls = async ({ directory } = {}) => {
  if (process.env.CTXLS_DISABLE === "1") return {}
  const owner = shared.owners.get(directory)
  if (owner && owner !== self) return {} // another copy of this file speaks for this directory
  shared.owners.set(directory, self)
  if (!shared.server || shared.server.closed) {
    const server = (shared.server = new Server())
    process.once("exit", () => server.abandon())
  }
  const server = shared.server
  server.users = (server.users ?? 0) + 1

  const params = new Recent() // session → the parameters of its requests that ctxls knows
  const titles = new Recent() // session → the title that ctxls knows
  const shown = new Recent() // sessions whose history was shown
  const unsaid = new Recent() // session → what ctxls said too late: it says nothing twice
  const told = new Recent() // answers whose usage was told
  const gone = new Recent() // sessions that were deleted: what comes late of them is not told
  const pruned = new Recent() // session → what ctxls leaves out of its requests, for when it does not answer in time
  const making = new Recent() // answer that is being made → its session, and its parts by their ids
  let compaction // of the host's settings

  /** Tells ctxls, and returns what it says. */
  const tell = async (event, payload, options = {}) => {
    if (gone.has(payload.input?.sessionID)) return // the host lets a turn go on whose session is deleted in its midst
    payload = { ...payload, directory, pid: process.pid, time: Date.now(), late: !(options.wait && server.trusted) } // late comes last
    const result = await server.call({ host: "opencode", event, payload }, options)
    return result?.output ? JSON.parse(result.output) : undefined
  }

  /** Shows ctxls the tools of a session that it may not know yet, once. */
  const show = (session, output) => {
    if (shown.has(session) || gone.has(session)) return
    shown.set(session, true)
    if (!output.messages.some(({ info }) => info.role === "assistant")) return // it has only begun
    const messages = output.messages.map(({ info, parts }) => ({
      info,
      parts: parts.filter(({ type }) => type === "tool").map(({ type, tool, state }) => ({ type, tool, state: { status: state.status, input: state.input } })),
    }))
    tell("experimental.chat.messages.transform", { input: {}, output: { messages } })
  }

  /** Makes a hook of a function that may do anything but harm. */
  const safe = (hook) => async (...args) => {
    try {
      await hook(...args)
    } catch {
      // whatever it is, the host must not know
    }
  }

  const events = {
    __proto__: null,
    "session.created": ({ info }, event) => {
      titles.set(info.id, info.title)
      tell("session.created", { event })
    },
    "session.updated": ({ info }, event) => {
      if (titles.get(info.id) === info.title) return // only its figures changed, which are sums
      titles.set(info.id, info.title)
      tell("session.updated", { event })
    },
    "session.deleted": ({ info }, event) => {
      gone.set(info.id, true)
      tell("session.deleted", { event }, { must: true })
    },
    "session.compacted": ({ sessionID }, event) => {
      unsaid.delete(sessionID) // it is of before
      tell("session.compacted", { event }, { must: true })
    },
    "session.idle": ({ sessionID }, event) => {
      for (const [id, answer] of making) if (answer.session === sessionID) making.delete(id) // broken off
      tell("session.idle", { event })
    },
    "session.error": (properties, event) => properties.sessionID && tell("session.error", { event }),
    "message.updated": ({ info }, event) => {
      if (info.role !== "assistant" || told.has(info.id)) return
      if (!info.time?.completed) {
        if (!making.has(info.id)) making.set(info.id, { session: info.sessionID, parts: new Map() })
        return
      }
      const parts = [...(making.get(info.id)?.parts.values() ?? [])]
      making.delete(info.id)
      told.set(info.id, true)
      tell("message.updated", { event, parts }, { must: info.summary === true })
    },
    "message.part.updated": ({ part }, event) => {
      making.get(part.messageID)?.parts.set(part.id, part)
      if (part.type === "tool" && part.state?.status === "error") tell("message.part.updated", { event })
    },
  }

  return {
    config: safe((settings) => {
      compaction = settings?.compaction
    }),
    event: safe(({ event }) => {
      const { type, properties = {} } = event
      const session = properties.sessionID ?? properties.info?.sessionID ?? properties.info?.id
      if (!gone.has(session)) events[type]?.(properties, event)
    }),
    "chat.message": safe(async (input, output) => {
      const tooLate = safe((result) => {
        const texts = JSON.parse(result.output).parts.map(({ text }) => text).filter((text) => !MARK.test(text))
        if (texts.length > 0) unsaid.set(input.sessionID, { output: ["", ...texts].join("\n\n") })
      })
      const said = await tell("chat.message", { input, output }, { wait: true, tooLate })
      if (!said?.parts) return
      const last = output.parts.at(-1)
      const parts = said.parts.map((part, i) => ({
        ...part, id: `${last?.id ?? "prt_"}ctxls${i}`, sessionID: input.sessionID, messageID: output.message.id,
      }))
      add(output, { parts })
    }),
    "chat.params": safe((input, output) => {
      const { sessionID, model, provider, message } = input
      const request = {
        // no more of it than is needed: the rest holds keys
        input: {
          sessionID, message: { model: message?.model }, provider: { source: provider?.source ?? provider?.info?.source },
          model: { id: model.id, providerID: model.providerID, api: { npm: model.api?.npm }, limit: model.limit },
        },
        output: { maxOutputTokens: output.maxOutputTokens },
        compaction,
      }
      const known = JSON.stringify(request)
      if (params.get(sessionID) === known) return
      params.set(sessionID, known)
      tell("chat.params", request, { must: true })
    }),
    "tool.execute.before": safe((input, output) => {
      tell("tool.execute.before", { input, output: { args: output.args } })
    }),
    "tool.execute.after": safe(async (input, output) => {
      const { sessionID } = input
      const tooLate = safe((result) => result?.output && unsaid.set(sessionID, JSON.parse(result.output)))
      const said = await tell("tool.execute.after", { input }, { wait: true, tooLate })
      const earlier = unsaid.get(sessionID)
      unsaid.delete(sessionID)
      for (const additions of [earlier, said]) if (additions) add(output, additions)
    }),
    "experimental.chat.messages.transform": safe(async (_, output) => {
      const session = output.messages[0]?.info.sessionID
      if (!session) return
      show(session, output)
      if (!server.prunes || gone.has(session)) return
      const ask = { sessionId: session, host: "opencode", prune: true, messages: output.messages }
      const plan = await server.call(ask, { wait: true, method: "context/plan", tooLate: safe((late) => late?.pruned && pruned.set(session, late.pruned)) })
      if (plan?.pruned) pruned.set(session, plan.pruned)
      prune(output.messages, pruned.get(session) ?? [])
    }),
    "experimental.session.compacting": safe(async (input, output) => {
      const said = await tell("experimental.session.compacting", { input }, { wait: true })
      if (!said?.context) return
      add(output, said)
      keepInPrompt(output, said.context)
    }),
    dispose: safe(async () => {
      if (shared.owners.get(directory) === self) shared.owners.delete(directory)
      if (--server.users <= 0) await server.close()
    }),
  }
}

// ctxls extension for pi. Made by `ctxls install pi`; `ctxls uninstall pi` removes it.
//
// It runs `ctxls hook pi` at pi's events, one after the other, and adds what ctxls says in return to the prompt or to the result of a
// tool. It decides nothing, throws nothing, and waits for nothing longer than 300 ms: a ctxls that does not answer in time is not
// waited for again until it does. CTXLS_DISABLE=1 turns all of it off; CTXLS_BIN names another program; CTXLS_WAIT is another time to
// wait, in milliseconds, for slow machines.

import { spawn } from "node:child_process"
import { accessSync, constants, statSync } from "node:fs"
import { delimiter, isAbsolute, join } from "node:path"

const INSTALLED = "" // the program that installed this file; install fills it in

const WAIT = Number(process.env.CTXLS_WAIT) || 300 // ms that pi waits for an answer
const HUNG = 5_000 // ms after which a hook is killed
const QUEUE_MAX = 64 // events that wait for their hook
const REPLY_MAX = 1 << 20 // characters; no answer is that long
const TEXT_MAX = 64 << 10 // characters of one string of an event; longer ones are cut

/** Returns the path of the program, undefined where there is none. Never a relative one: a project must not choose it. */
function program() {
  const named = [process.env.CTXLS_BIN, INSTALLED].filter((path) => path && isAbsolute(path))
  const name = process.platform === "win32" ? "ctxls.exe" : "ctxls"
  for (const dir of (process.env.PATH ?? "").split(delimiter)) {
    if (isAbsolute(dir)) named.push(join(dir, name))
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

/** Runs one hook and returns the text that it has for the model, undefined where it has none or fails. */
function hook(payload) {
  return new Promise((resolve) => {
    const done = (text) => {
      clearTimeout(timer)
      resolve(text)
    }
    let timer
    try {
      const path = program()
      if (!path) return done()
      const child = spawn(path, ["hook", "pi"], { stdio: ["pipe", "pipe", "ignore"], windowsHide: true })
      timer = setTimeout(() => {
        child.kill("SIGKILL")
        done()
      }, HUNG)
      let said = ""
      child.on("error", () => done())
      child.stdin?.on("error", () => {})
      child.stdout?.on("error", () => {})
      child.stdout?.setEncoding("utf8")
      child.stdout?.on("data", (text) => {
        if (said.length <= REPLY_MAX) said += text
      })
      child.on("close", () => {
        try {
          done(JSON.parse(said).hookSpecificOutput.additionalContext || undefined)
        } catch {
          done() // most events are answered with nothing
        }
      })
      child.stdin?.end(payload)
    } catch {
      done()
    }
  })
}

function cut(_key, value) {
  return typeof value === "string" && value.length > TEXT_MAX ? value.slice(0, TEXT_MAX) : value
}

export default function (pi) {
  if (process.env.CTXLS_DISABLE === "1") return
  let queue = Promise.resolve()
  let waiting = 0
  let trusted = true // it answered in time when it was last waited for

  /** Queues an event. With wait it returns what ctxls says to it, if that comes in time. */
  async function tell(name, ctx, members, wait = false) {
    try {
      const usage = ctx.getContextUsage?.()
      const payload = JSON.stringify(
        {
          hook_event_name: name,
          session_id: ctx.sessionManager.getSessionId(),
          transcript_path: ctx.sessionManager.getSessionFile() ?? "",
          session_name: ctx.sessionManager.getSessionName?.() ?? "",
          cwd: ctx.cwd,
          timestamp: new Date().toISOString(),
          pid: process.pid,
          model: ctx.model?.id ?? "",
          provider: ctx.model?.provider ?? "",
          max_output: ctx.model?.maxTokens ?? 0,
          context_window: usage?.contextWindow ?? ctx.model?.contextWindow ?? 0,
          context_tokens: usage?.tokens ?? 0,
          ...members,
        },
        cut,
      )
      if (waiting >= QUEUE_MAX) return undefined
      waiting++
      const answer = queue.then(() => hook(payload))
      queue = answer.then(() => {
        waiting--
        trusted = true
      })
      if (!wait || !trusted) return undefined
      let timer
      const late = new Promise((resolve) => {
        timer = setTimeout(() => {
          trusted = false
          resolve(undefined)
        }, WAIT)
      })
      const text = await Promise.race([answer, late])
      clearTimeout(timer)
      return text
    } catch {
      return undefined // such as a session that pi has replaced meanwhile
    }
  }

  pi.on("session_start", (event, ctx) => void tell("session_start", ctx, { reason: event?.reason }))
  pi.on("session_before_compact", (_event, ctx) => void tell("session_before_compact", ctx, {}))
  pi.on("session_compact", (_event, ctx) => void tell("session_compact", ctx, {}))
  pi.on("agent_end", (_event, ctx) => void tell("agent_end", ctx, {}))
  pi.on("session_shutdown", async (event, ctx) => {
    await tell("session_shutdown", ctx, { reason: event?.reason }, true)
  })
  pi.on("before_agent_start", async (event, ctx) => {
    const text = await tell("before_agent_start", ctx, { prompt: event?.prompt }, true)
    if (text) return { message: { customType: "ctxls", content: text, display: false } }
  })
  pi.on("tool_result", async (event, ctx) => {
    const text = await tell(
      "tool_result",
      ctx,
      { tool_name: event?.toolName, tool_call_id: event?.toolCallId, tool_input: event?.input, failed: event?.isError === true },
      true,
    )
    if (text && Array.isArray(event?.content)) return { content: [...event.content, { type: "text", text }] }
  })
}

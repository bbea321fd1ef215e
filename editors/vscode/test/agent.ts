// A session of Claude Code as ctxls sees it: payloads that were captured from the real one, fed to real processes of ctxls.
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const testdata = join(import.meta.dirname, '../../../internal/hook/claudecode/testdata');

/** Where processes of ctxls run: which program, and with which environment. */
export interface Machine {
  ctxls: string;
  env: Record<string, string>;
}

export class Agent {
  readonly #machine: Machine;
  readonly id: string;
  readonly cwd: string;
  readonly transcript: string;
  #responses = 0;

  constructor(machine: Machine, id: string, cwd: string) {
    this.#machine = machine;
    this.id = id;
    this.cwd = cwd;
    this.transcript = join(machine.env.HOME ?? '', '.claude/projects/p', `${id}.jsonl`);
    mkdirSync(dirname(this.transcript), { recursive: true });
  }

  /** Returns a captured payload, as it would be of this session. */
  payload(name: string, changes: object = {}): string {
    const captured = JSON.parse(readFileSync(join(testdata, 'payloads', `${name}.json`), 'utf8'));
    return JSON.stringify({
      ...captured,
      session_id: this.id,
      transcript_path: this.transcript,
      cwd: this.cwd,
      ...changes,
    });
  }

  /** Runs `ctxls hook claude-code` on a captured payload. */
  hook(name: string, changes: object = {}): string {
    return this.#run(['hook', 'claude-code'], this.payload(name, changes));
  }

  /** Claude Code's status line, with the window's size and what is in it. */
  statusline(tokens: number, changes: object = {}, window = 200_000): string {
    const usage = {
      input_tokens: 12,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: tokens - 12,
      output_tokens: 77,
    };
    const context_window = { context_window_size: window, current_usage: usage };
    return this.#run(['statusline'], this.payload('StatusLine.72pct', { context_window, ...changes }));
  }

  /** One turn: a prompt, an answer for which the window held so many tokens, and the end of it. */
  turn(tokens: number): void {
    this.hook('UserPromptSubmit', { prompt: 'go on' });
    this.answer(tokens);
    this.hook('Stop');
  }

  /** Writes an answer into the transcript, as Claude Code does before it calls its hooks. */
  answer(tokens: number): void {
    const lines = readFileSync(join(testdata, 'transcripts/basic.jsonl'), 'utf8').split('\n');
    const captured = JSON.parse(lines.find(line => line.includes('"type":"assistant"')) ?? '{}');
    const at = new Date().toISOString();
    const id = `msg_${this.id.slice(0, 4)}_${++this.#responses}`;
    const usage = {
      ...captured.message.usage,
      input_tokens: 12,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: tokens - 12,
    };
    const message = { ...captured.message, id, usage };
    const line = { ...captured, message, uuid: id, timestamp: at, sessionId: this.id, cwd: this.cwd };
    appendFileSync(this.transcript, `${JSON.stringify(line)}\n`);
  }

  /** Has tools run on files. */
  reads(...paths: string[]): void {
    const tool_calls = paths.map((path, i) => ({
      tool_name: 'Read',
      tool_input: { file_path: join(this.cwd, path) },
      tool_use_id: `toolu_${i}`,
      tool_response: '1\tpackage main\n',
    }));
    this.hook('PostToolBatch.parallel', { tool_calls });
  }

  #run(args: string[], input: string): string {
    return execFileSync(this.#machine.ctxls, args, { input, env: this.#machine.env, encoding: 'utf8' });
  }
}

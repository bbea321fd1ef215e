// A session of Claude Code as ctxls sees it: payloads that were captured from the real one, fed to real processes of ctxls.
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const testdata = join(import.meta.dirname, '../../../internal/host/claudecode/testdata');

/** Lines of a transcript, by a text that only they have. */
const kinds = {
  prompt: ['basic', '"promptSource":'],
  call: ['basic', '"type":"tool_use"'],
  result: ['basic', '"type":"tool_result"'],
  answer: ['basic', '"text":"FINAL-ANSWER'],
  boundary: ['compact-auto', '"subtype":"compact_boundary"'],
  summary: ['compact-auto', '"isCompactSummary":true'],
} as const;
type Kind = keyof typeof kinds;

function captured(kind: Kind): string {
  const [file, text] = kinds[kind];
  const lines = readFileSync(join(testdata, 'transcripts', `${file}.jsonl`), 'utf8').split('\n');
  const found = lines.find(line => line.includes(text));
  if (!found) throw new Error(`${file}.jsonl has no line with ${text}`);
  return found;
}

/** A host cuts what a tool returns: at most so many tokens of a file are read at once. */
const mostOfAResult = 4_000;

const sentence = 'The parser is ported, and its tests are left to do. ';

/** Repeats a line until it has about so many tokens: both lines here have about ten. */
function written(line: string, tokens: number): string {
  return line.repeat(Math.max(1, Math.round(tokens / 10)));
}

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
  #lines = 0;
  #clock: number | undefined;
  #tokens = 15_000; // system prompt and tools

  constructor(machine: Machine, id: string, cwd: string) {
    this.#machine = machine;
    this.id = id;
    this.cwd = cwd;
    this.transcript = join(machine.env.HOME ?? '', '.claude/projects/p', `${id}.jsonl`);
    mkdirSync(dirname(this.transcript), { recursive: true });
  }

  /** Makes what the transcript gets next as old as so many minutes; without them it is of now. Hooks are always of now. */
  ago(minutes?: number): void {
    const then = minutes === undefined ? undefined : Date.now() - minutes * 60_000;
    this.#clock = then && Math.max(then, this.#clock ?? 0);
  }

  /** Another session in the same place. */
  another(id: string): Agent {
    return new Agent(this.#machine, id, this.cwd);
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
    return this.#run(['statusline'], this.status(tokens, changes, window));
  }

  /** The payload of the status line. */
  status(tokens: number, changes: object = {}, window = 200_000): string {
    const usage = {
      input_tokens: 12,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: tokens - 12,
      output_tokens: 77,
    };
    const context_window = { context_window_size: window, current_usage: usage };
    return this.payload('StatusLine.72pct', { context_window, ...changes });
  }

  /** One turn: a prompt, perhaps files that are read, an answer for which the window held so many tokens, and the end of it. */
  turn(tokens: number, ...files: string[]): void {
    const prompt = 'look at what is left to do and go on';
    this.hook('UserPromptSubmit', { prompt, prompt_id: randomUUID() }); // told twice, one prompt is one
    this.#write('prompt', { role: 'user', content: prompt });
    const grown = Math.max(0, tokens - this.#tokens);
    for (const file of files) {
      const parts = Math.max(1, Math.ceil(grown / files.length / mostOfAResult));
      const part = grown / files.length / parts;
      for (let i = 0; i < parts; i++) this.#read(file, part, this.#clock === undefined ? 0 : Math.round(i * part));
    }
    if (files.length > 0) this.reads(...files);
    this.#answer('answer', tokens, files.length > 0 ? undefined : [{ type: 'text', text: written(sentence, grown) }]);
    this.#tokens = tokens;
    this.hook('Stop');
  }

  /** Claude Code compacts: it says so, writes it down, and says that it is done. Of an older one only the transcript tells. */
  compact(postTokens: number): void {
    const live = this.#clock === undefined;
    if (live) this.hook('PreCompact.auto');
    const compactMetadata = { trigger: 'auto', preTokens: this.#tokens, postTokens };
    this.#write('boundary', undefined, { compactMetadata });
    this.#write('summary', { role: 'user', content: 'The parser is ported; its tests are left to do. '.repeat(20) });
    if (live) this.hook('PostCompact.auto');
    this.#tokens = postTokens;
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

  /** Reads a file of so many tokens: the call, before which the turn has grown by so many, and its result. */
  #read(file: string, tokens: number, grown: number): void {
    const id = `toolu_${this.id.slice(0, 4)}_${++this.#lines}`;
    const content = [{ type: 'tool_use', id, name: 'Read', input: { file_path: join(this.cwd, file) } }];
    this.#answer('call', this.#tokens + grown + 60, content);
    const text = written('func parse(line string) (node, error) {\n', tokens);
    this.#write('result', { role: 'user', content: [{ tool_use_id: id, type: 'tool_result', content: text }] });
  }

  #answer(kind: Kind, tokens: number, content?: object[]): void {
    const { message } = JSON.parse(captured(kind));
    const usage = {
      ...message.usage,
      input_tokens: 12,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: tokens - 12,
    };
    const id = `msg_${this.id.slice(0, 4)}_${++this.#lines}`;
    this.#write(kind, { ...message, id, usage, ...(content && { content }) });
  }

  /** Appends a line to the transcript, which was captured and is made this session's. */
  #write(kind: Kind, message?: object, changes: object = {}): void {
    const uuid = `${this.id.slice(0, 8)}-${++this.#lines}`;
    if (this.#clock !== undefined) this.#clock = Math.min(this.#clock + 3_000, Date.now());
    const line = JSON.parse(captured(kind));
    delete line.toolUseResult;
    const ours = {
      uuid,
      timestamp: new Date(this.#clock ?? Date.now()).toISOString(),
      sessionId: this.id,
      cwd: this.cwd,
      ...(message && { message }),
    };
    appendFileSync(this.transcript, `${JSON.stringify({ ...line, ...ours, ...changes })}\n`);
  }

  /**
   * Has hooks tell the same until one does so in time, as a host's next event would. On a machine that is busy with other things
   * one may give up, which is what it promises.
   */
  #run(args: string[], input: string): string {
    const { ctxls, env } = this.#machine;
    for (let attempt = 0; attempt < 50; attempt++) {
      const before = this.#givenUp();
      const { error, status, stdout, stderr } = spawnSync(ctxls, args, { input, env, encoding: 'utf8' });
      if (error || status !== 0) throw error ?? new Error(`ctxls ${args.join(' ')}: status ${status}: ${stderr}`);
      if (this.#givenUp() === before && !stderr.includes('gave up')) return stdout;
    }
    throw new Error('50 hooks gave up');
  }

  /** How many hooks said in the log that they could not do what they should. */
  #givenUp(): number {
    const log = join(this.#machine.env.XDG_STATE_HOME ?? '', 'ctxls/ctxls.log');
    return existsSync(log) ? (readFileSync(log, 'utf8').match(/hook gave up|hook failed/g)?.length ?? 0) : 0;
  }
}

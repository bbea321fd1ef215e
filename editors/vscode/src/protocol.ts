// Made by scripts/protocol.mjs from docs/protocol.json. Do not edit.

/** The version of the protocol that this client speaks. */
export const protocolVersion = 1;

/** What this client calls. */
export interface Requests {
  'context/measure': { params: MeasureParams; result: Measurement };
  'metrics/report': { params: ReportParams; result: ReportResult };
  'session/deleted': { params: SessionRef; result: DeletedResult };
  'session/get': { params: GetParams; result: SessionDetail };
  'session/history': { params: HistoryParams; result: HistoryResult };
  'session/list': { params: ListParams; result: ListResult };
}

/** What this client listens to. */
export interface Notifications {
  'metrics/thresholdExceeded': Alert;
  'session/changed': SessionChangedParams;
  'session/removed': SessionRemovedParams;
}

/** AgentView is a sub-agent in the form for clients. */
export interface AgentView {
  /** the host's own id of it */
  agentId: string;
  /** the host's name for its role */
  agentType: string;
  /** how full its window is */
  usage: Usage;
}

/** Alert says that too many recent tasks exceed the threshold. */
export interface Alert {
  /** share of exceeding tasks, 0–1 */
  rate: number;
  /** the number of tasks behind the rate */
  tasks: number;
  /** the rate above which it fires */
  threshold: number;
}

/** Band is a range of tokens. */
export interface Band {
  /** the most */
  high: number;
  /** the least */
  low: number;
}

/** Bin is the tasks of one range of tokens. */
export interface Bin {
  /** the tasks have more tokens than this; in the first bin, this many or more */
  above: number;
  /** share of all tasks, 0–1, with more than UpTo tokens */
  rest: number;
  tasks: number;
  /** and at most as many */
  upTo: number;
}

/** Breakdown describes what fills a session's window, in tokens. The provider reports only Tokens. ctxls estimates the other figures from the host's record, and scales them to Tokens. */
export interface Breakdown {
  /** when that response was made */
  asOf: string | null;
  /** the largest first, at most MaxBreakdownFiles; the parts include them */
  files: FilePart[];
  /** the growth since the last turn began; null if no turn has begun since the last compaction */
  lastTurn: Growth | null;
  /** in the order of Categories, tools by size; no part is 0 */
  parts: Part[];
  /** Request tells what CategorySystem holds, by the host's own record of the last request. It is absent if the host keeps none. */
  request?: RequestShare;
  /** Tokens is the occupancy at the last response, as in Usage. Parts add up to it. It is null if the breakdown is not known; Why then gives the reason as a sentence. */
  tokens: number | null;
  why?: string;
}

/** DeletedResult says whether there was anything to delete. */
export interface DeletedResult {
  deleted: boolean;
}

/** Display is a usage for users: clamped and rounded. */
export interface Display {
  /** what 100 percent stands for */
  limitTokens: number;
  /** 0–100 */
  percent: number | null;
  /** at most LimitTokens */
  tokens: number | null;
}

/** FilePart is the share of one file: all calls and results about it. */
export interface FilePart {
  /** as it may be shown */
  path: string;
  tokens: number;
}

/** Forecast is the number of remaining turns. */
export interface Forecast {
  /** at the most */
  high: number;
  /** at the least */
  low: number;
  /** probably */
  mid: number;
}

/** GetParams ask for one session. */
export interface GetParams {
  /** include what fills the window, which may take seconds */
  breakdown?: boolean;
  /** needed only if two hosts have a session with that ID */
  host?: string;
  /** the host's own id of it */
  sessionId: string;
  /** comes back as the token of $/progress */
  workDoneToken?: string;
}

/** Growth is the share of a window that was added since a time, and its parts, which add up to it. */
export interface Growth {
  parts: Part[];
  since: string;
  tokens: number;
}

/** HistoryParams ask for the points of a session's history. */
export interface HistoryParams {
  /** needed only if two hosts have a session with that ID */
  host?: string;
  /** only the newest points, above 0; absent is all that are kept */
  limit?: number;
  /** the host's own id of it */
  sessionId: string;
}

/** HistoryResult is the points, oldest first. */
export interface HistoryResult {
  samples: Sample[];
}

/** ListParams select sessions. Without cwd and workspaceFolders, these are the sessions of the client's workspace, if it has open folders and did not ask for all sessions. An empty array of workspaceFolders selects everywhere. */
export interface ListParams {
  /** a path: sessions that work there or below */
  cwd?: string;
  host?: string;
  includeEnded?: boolean;
  /** the maximum number, above 0; absent is all */
  limit?: number;
  /** the same for several folders */
  workspaceFolders?: ({ uri?: string } | string)[];
}

/** ListResult is a list of sessions, the most recently updated first. */
export interface ListResult {
  /** how many sessions are kept on this machine; older ones are dropped */
  maxSessions: number;
  sessions: SessionView[];
}

/** MeasureParams is a conversation to count. */
export interface MeasureParams {
  /** fill ByRole and ByMessage */
  breakdown?: boolean;
  /** goes before the model's */
  encoding?: string;
  /** "none" (the default) or "openai": 3 a message, 1 a name, 3 for the reply */
  framing?: string;
  /** an array of messages */
  messages: unknown;
  /** decides the encoding and the cost of images */
  model?: string;
  /** decides the cost of images if the model's name does not */
  provider?: string;
  /** a string, an array of strings and blocks, or {parts} */
  system?: unknown;
  /** above 0; DefaultThresholdTokens where nil */
  thresholdTokens?: number;
  /** an array of tool definitions */
  tools?: unknown;
  /** above 0; nil is unknown, and then Percent is, too */
  windowTokens?: number;
  /** comes back as the token of $/progress */
  workDoneToken?: string;
}

/** Measurement is the size of a conversation. */
export interface Measurement {
  /** ByMessage holds the tokens of each message, with its framing. */
  byMessage?: number[];
  /** ByRole adds up to Tokens. System is under "system", Tools under "tools", and the start of the reply, if framing counts it, under "assistant". */
  byRole?: Record<string, number>;
  /** what was counted with */
  encoding: string;
  /** Exact is true if all content was text, and either no model was named, or the named model really uses Encoding and no tools were defined. Every provider writes tool definitions in its own form. */
  exact: boolean;
  /** Tokens > ThresholdTokens, strictly */
  exceedsThreshold: boolean;
  /** of WindowTokens; may be above 100 */
  percent: number | null;
  /** the size above which it is too long */
  thresholdTokens: number;
  /** of every text that the model would read */
  tokens: number;
  /** the size of the model's window; null is unknown */
  windowTokens: number | null;
}

/** Part is one share of a window. */
export interface Part {
  category:
    | 'system'
    | 'unaccounted'
    | 'memory'
    | 'summary'
    | 'injected'
    | 'user'
    | 'assistant'
    | 'thinking'
    | 'calls'
    | 'toolResult'
    | 'image';
  tokens: number;
  /** of a result, sanitised; "" where the call is not on record */
  tool?: string;
}

/** ReportParams say what to report. */
export interface ReportParams {
  /** include the distribution of the tasks */
  histogram?: boolean;
}

/** ReportResult is the figures over the last tasks. */
export interface ReportResult {
  /** of the tasks covered */
  averageTokens: number;
  /** if it was asked for: without gaps from 0 on; [] without tasks */
  histogram?: Bin[];
  /** the largest task */
  maxTokens: number;
  /** half of the tasks had at most this many */
  p50Tokens: number;
  /** share of tasks above ThresholdTokens, 0–1; at most 0.10 means that 90 % stay below */
  p90ExceedanceRate: number;
  /** 90 % of them */
  p90Tokens: number;
  /** 99 % of them */
  p99Tokens: number;
  /** the oldest covered task; null without tasks */
  since: string | null;
  /** number of covered tasks */
  tasks: number;
  /** the size above which a task counts as too large */
  thresholdTokens: number;
  /** trims that removed or cleared something */
  trimOperations: number;
  /** what those trims saved */
  trimmedTokens: number;
  /** maximum number of covered tasks */
  windowTasks: number;
}

/** RequestPart is one part of the recorded request. */
export interface RequestPart {
  /** as sent, in UTF-8 */
  bytes: number;
  kind: 'systemPrompt' | 'builtinTools' | 'serverTools';
  /** of an MCP server's tools, sanitized */
  server?: string;
  /** scaled, so that the parts are no more than the share that they explain */
  tokens: number;
  /** the number of tools */
  tools: number;
  /** Unused lists the tools that were never called in the session, the largest first, at most MaxUnusedTools. It is null if that is not known. */
  unused: UnusedTool[];
  /** the tokens of all of them */
  unusedTokens: number;
  /** the number of tools that were never called */
  unusedTools: number;
}

/** RequestShare is what the host's own record of the last request tells of the system prompt and the tools. */
export interface RequestShare {
  /** when the request was made */
  at: string;
  /** the system prompt, the built-in tools, then each MCP server's tools by name */
  parts: RequestPart[];
  /** of the host */
  version: string;
}

/** Sample is one point of a session's history. */
export interface Sample {
  at: string;
  kind: 'usage' | 'estimate' | 'compaction';
  /** occupancy; for a compaction, the occupancy after it */
  tokens: number;
  windowTokens: number;
}

/** SessionChangedParams are a session as it is now. */
export interface SessionChangedParams {
  session: SessionView;
}

/** SessionDetail is a session with its Breakdown. */
export interface SessionDetail {
  /** sub-agents that have not ended; Usage does not include their tokens */
  agents: AgentView[];
  /** sub-agents that ended since the user's last prompt */
  agentsEnded?: AgentView[];
  /** nil if it was not asked for */
  breakdown?: Breakdown;
  /** it does so now */
  compacting: boolean;
  /** how often the host replaced the history by a summary */
  compactions: number;
  /** its working directory */
  cwd: string;
  /** null while it lives */
  endedAt: string | null;
  /** the program that runs the agent */
  host: string;
  /** as the host spells it; empty is unknown */
  model: string;
  /** who serves the model */
  provider: string;
  /** the host's own record that the breakdown is of, a path; "" where the host keeps none */
  record?: string;
  /** the host's own id of it */
  sessionId: string;
  /** what told of it */
  source: 'hooks' | 'record';
  /** its first event */
  startedAt: string;
  /** whether it lives */
  state: 'active' | 'idle' | 'ended';
  /** sanitized, as are the names below */
  title: string;
  /** its last event */
  updatedAt: string;
  /** of the main chain */
  usage: Usage;
  /** files in use for display, the most recently used first */
  workingSet: string[];
}

/** SessionRef names a session. The params of every method about one session begin with it. */
export interface SessionRef {
  /** needed only if two hosts have a session with that ID */
  host?: string;
  /** the host's own id of it */
  sessionId: string;
}

/** SessionRemovedParams name a session that is forgotten. */
export interface SessionRemovedParams {
  host: string;
  sessionId: string;
}

/** SessionView is a session in the form for clients. */
export interface SessionView {
  /** sub-agents that have not ended; Usage does not include their tokens */
  agents: AgentView[];
  /** sub-agents that ended since the user's last prompt */
  agentsEnded?: AgentView[];
  /** it does so now */
  compacting: boolean;
  /** how often the host replaced the history by a summary */
  compactions: number;
  /** its working directory */
  cwd: string;
  /** null while it lives */
  endedAt: string | null;
  /** the program that runs the agent */
  host: string;
  /** as the host spells it; empty is unknown */
  model: string;
  /** who serves the model */
  provider: string;
  /** the host's own id of it */
  sessionId: string;
  /** what told of it */
  source: 'hooks' | 'record';
  /** its first event */
  startedAt: string;
  /** whether it lives */
  state: 'active' | 'idle' | 'ended';
  /** sanitized, as are the names below */
  title: string;
  /** its last event */
  updatedAt: string;
  /** of the main chain */
  usage: Usage;
  /** files in use for display, the most recently used first */
  workingSet: string[];
}

/** UnusedTool is a tool that was sent and never called. */
export interface UnusedTool {
  /** sanitized */
  name: string;
  tokens: number;
}

/** Usage is how full a window is, as clients see it. Tokens throughout, null is unknown. Percent may exceed 100; Display is what is shown to people. */
export interface Usage {
  /** when Tokens were so many */
  asOf: string | null;
  /** the range of the true value, for an estimate */
  band: Band | null;
  /** whether the host compacts by itself */
  compactionRule: 'threshold' | 'onRefusal' | 'off' | 'unknown';
  /** the compaction point; null unless CompactionRule is threshold */
  compactionTokens: number | null;
  /** the figures for users */
  display: Display;
  /** the provider's own figure, not an estimate */
  exact: boolean;
  /** what a turn has added lately */
  growthPerTurn: number | null;
  /** the same in a word */
  level: 'normal' | 'notice' | 'warning' | 'critical' | null;
  /** Tokens as a share of the window */
  percent: number | null;
  /** with the estimated content since the report */
  projectedTokens: number | null;
  /** where Tokens come from */
  provenance: 'host' | 'transcript' | 'reported' | 'estimate' | null;
  /** where a request is refused; null if the host compacts before that */
  refusalTokens: number | null;
  /** at least one response behind */
  stale: boolean;
  /** from ProjectedTokens to the compaction point, never negative */
  toCompaction: number | null;
  /** from ProjectedTokens to the refusal, never negative */
  toRefusal: number | null;
  /** as reported, or estimated if Provenance says so */
  tokens: number | null;
  /** the number of turns until the host compacts, or refuses if it does not compact */
  turnsToCompaction: Forecast | null;
  /** what says so */
  windowProvenance: 'host' | 'config' | 'workspace' | 'suffix' | 'learned' | 'table' | 'default';
  /** how many the model accepts */
  windowTokens: number;
  /** the same for people */
  windowWhy: string;
}

// Made by scripts/protocol.mjs from docs/protocol.json. Do not edit.

/** The version of the protocol that this client speaks. */
export const protocolVersion = 1;

/** What this client calls. */
export interface Requests {
  'context/measure': { params: MeasureParams; result: Measurement };
  'metrics/report': { params: Record<string, never>; result: ContextOptimizationReport };
  'session/get': { params: GetParams; result: SessionView };
  'session/history': { params: HistoryParams; result: HistoryResult };
  'session/list': { params: ListParams; result: ListResult };
}

/** What this client listens to. */
export interface Notifications {
  'metrics/thresholdExceeded': Alert;
  'session/changed': SessionChangedParams;
  'session/removed': SessionRemovedParams;
}

/** AgentView is a sub-agent as clients see it. */
export interface AgentView {
  agentId: string;
  agentType: string;
  usage: Usage;
}

/** Alert says that too many recent tasks exceed the threshold. */
export interface Alert {
  /** share of exceeding tasks, 0–1 */
  rate: number;
  /** how many tasks the rate is of */
  tasks: number;
  /** the rate above which it fires */
  threshold: number;
}

/** Band is a range of tokens. */
export interface Band {
  high: number;
  low: number;
}

/** ContextOptimizationReport is the fleet's figures over the last tasks. Tokens throughout; an empty ring gives zeros. */
export interface ContextOptimizationReport {
  averageTokens: number;
  maxTokens: number;
  p50Tokens: number;
  /** share of tasks above ThresholdTokens, 0–1; at most 0.10 means that 90 % stay below */
  p90ExceedanceRate: number;
  p90Tokens: number;
  p99Tokens: number;
  /** the oldest task covered; null for none */
  since: string | null;
  tasks: number;
  thresholdTokens: number;
  /** trims that removed or cleared something */
  trimOperations: number;
  /** what those trims saved */
  trimmedTokens: number;
  /** how many tasks the figures cover at most */
  windowTasks: number;
}

/** Display is a usage as people are shown it: clamped and rounded. */
export interface Display {
  limitTokens: number;
  /** 0–100 */
  percent: number | null;
  tokens: number | null;
}

/** Forecast is how many turns are left. */
export interface Forecast {
  high: number;
  low: number;
  mid: number;
}

/** GetParams ask for one session. */
export interface GetParams {
  /** with what fills the window, where that is known */
  breakdown?: boolean;
  /** needed only where two hosts have a session of that id */
  host?: 'claude-code' | 'opencode' | 'codex' | 'gemini-cli' | 'generic';
  /** the host's own id of it */
  sessionId: string;
}

/** HistoryParams ask for the points of a session's curve. */
export interface HistoryParams {
  /** needed only where two hosts have a session of that id */
  host?: 'claude-code' | 'opencode' | 'codex' | 'gemini-cli' | 'generic';
  /** the newest so many, above 0; absent is all that are kept */
  limit?: number;
  /** the host's own id of it */
  sessionId: string;
}

/** HistoryResult is the points, oldest first. */
export interface HistoryResult {
  samples: Sample[];
}

/** ListParams select sessions. Without cwd and workspaceFolders they are those of the client's workspace, where it has folders open and did not ask for all sessions; an empty array of workspaceFolders selects everywhere. */
export interface ListParams {
  /** a path: sessions that work there or below */
  cwd?: string;
  host?: 'claude-code' | 'opencode' | 'codex' | 'gemini-cli' | 'generic';
  includeEnded?: boolean;
  /** at most that many, above 0; absent is all */
  limit?: number;
  /** the same for several folders */
  workspaceFolders?: ({ uri?: string } | string)[];
}

/** ListResult is sessions, the most recently updated first. */
export interface ListResult {
  sessions: SessionView[];
}

/** MeasureParams are a conversation to count. */
export interface MeasureParams {
  /** fill ByRole and ByMessage */
  breakdown?: boolean;
  /** goes before the model's */
  encoding?: string;
  /** "none" (the default) or "openai": 3 a message, 1 a name, 3 for the reply */
  framing?: string;
  /** an array of messages */
  messages: unknown;
  /** decides the encoding and what an image costs */
  model?: string;
  /** decides what an image costs where the model's name does not */
  provider?: string;
  /** a string, an array of strings and blocks, or {parts} */
  system?: unknown;
  /** above 0; DefaultThresholdTokens where nil */
  thresholdTokens?: number;
  /** an array of tool definitions */
  tools?: unknown;
  /** above 0; nil: unknown, and so is the share of it */
  windowTokens?: number;
  /** comes back as the token of $/progress */
  workDoneToken?: string;
}

/** Measurement is how large a conversation is. */
export interface Measurement {
  /** ByMessage holds the tokens of each message, with its framing. */
  byMessage?: number[];
  /** ByRole adds up to Tokens. System stands under "system", Tools under "tools", the start of the reply that framing counts under "assistant". */
  byRole?: Record<string, number>;
  encoding: string;
  /** Exact is true when everything counted was text, and either no model was named or the named model really uses Encoding and no tools were defined, which every provider writes out in a form of its own. */
  exact: boolean;
  /** Tokens > ThresholdTokens, strictly */
  exceedsThreshold: boolean;
  /** of WindowTokens; may be above 100 */
  percent: number | null;
  thresholdTokens: number;
  tokens: number;
  windowTokens: number | null;
}

/** Sample is one point of a session's history. */
export interface Sample {
  at: string;
  kind: 'usage' | 'estimate' | 'compaction';
  /** occupancy; after a compaction what it fell to */
  tokens: number;
  windowTokens: number;
}

/** SessionChangedParams are a session as it is now. */
export interface SessionChangedParams {
  session: SessionView;
}

/** SessionRemovedParams name a session that is forgotten. */
export interface SessionRemovedParams {
  host: 'claude-code' | 'opencode' | 'codex' | 'gemini-cli' | 'generic';
  sessionId: string;
}

/** SessionView is a session as clients see it. */
export interface SessionView {
  /** those that live */
  agents: AgentView[];
  compacting: boolean;
  compactions: number;
  cwd: string;
  endedAt: string | null;
  host: 'claude-code' | 'opencode' | 'codex' | 'gemini-cli' | 'generic';
  model: string;
  provider: string;
  sessionId: string;
  startedAt: string;
  state: 'active' | 'idle' | 'ended';
  /** sanitised, as are the names below */
  title: string;
  updatedAt: string;
  usage: Usage;
  /** as shown, the most recently used first */
  workingSet: string[];
}

/** Usage is how full a window is, as clients see it. Tokens throughout, null is unknown. Percent may exceed 100; Display is what is shown to people. */
export interface Usage {
  asOf: string | null;
  /** where the truth lies, of an estimate */
  band: Band | null;
  /** where the host compacts; null when it never does */
  compactionTokens: number | null;
  display: Display;
  /** a figure of the provider's, not of ctxls' */
  exact: boolean;
  growthPerTurn: number | null;
  level: 'normal' | 'notice' | 'warning' | 'critical' | null;
  /** Tokens as a share of the window */
  percent: number | null;
  /** with the estimate of what was appended since */
  projectedTokens: number | null;
  provenance: 'host' | 'transcript' | 'reported' | 'estimate' | null;
  /** at least one response behind */
  stale: boolean;
  /** what is left until then, never negative */
  toCompaction: number | null;
  /** as reported, or estimated where Provenance says so */
  tokens: number | null;
  turnsToCompaction: Forecast | null;
  windowProvenance: 'host' | 'config' | 'suffix' | 'learned' | 'table' | 'default';
  windowTokens: number;
  /** for people */
  windowWhy: string;
}

// Made by scripts/protocol.mjs from docs/protocol.json. Do not edit.

/** The version of the protocol that this client speaks. */
export const protocolVersion = 1;

/** What this client calls. */
export interface Requests {
  'context/audit': { params: AuditParams; result: AuditReport };
  'context/measure': { params: MeasureParams; result: Measurement };
  'context/plan': { params: PlanParams; result: PlanResult };
  'metrics/report': { params: ReportParams; result: ReportResult };
  'session/compactions': { params: CompactionsParams; result: Listing };
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

/** AuditItem is one file's share of a part, and of what it imports. */
export interface AuditItem {
  /** of the file's content as sent, without heading */
  bytes: number;
  /** a cap of the host removed a part */
  cut?: boolean;
  /** Inlined says that the text stands inside that of the importing file, and counts there. */
  inlined?: boolean;
  items?: AuditItem[];
  kind: 'memory' | 'import' | 'rule' | 'skill' | 'command' | 'agent';
  name?: string;
  /** place among the items of the request, from 1; 0 where it is not in it */
  order: number;
  path?: string;
  /** of the file in bytes */
  size: number;
  /** as sent, heading included; of a file that waits, of its text */
  tokens: number;
  when: 'start' | 'onRead' | 'never';
  /** it is not loaded at the start */
  why?: string;
}

/** AuditParams say what to audit. */
export interface AuditParams {
  /** absolute path of the directory where a session would start; without it, the client's first folder */
  dir?: string;
  /** one host; without it, those that have settings on this machine */
  host?: string;
  /** changes to assume: "rm FILE" */
  whatIf?: string[];
}

/** AuditPart is one block of a request. */
export interface AuditPart {
  basis: 'files' | 'record' | 'table' | 'unknown' | 'server';
  /** as sent, in UTF-8; null where it is not known */
  bytes: number | null;
  /** files and lines, the most expensive first */
  items: AuditItem[];
  name: string;
  /** null where it is not known */
  tokens: number | null;
  /** its place in the request */
  where: string;
  /** what the figure leaves out, or why there is none */
  why?: string;
}

/** AuditReport is the audit of a directory. */
export interface AuditReport {
  /** where the session would start */
  dir: string;
  /** defects, by path and place */
  findings: Finding[];
  /** those that were asked for, in the order of contextfiles.Hosts */
  hosts: HostAudit[];
  /** the changes that are assumed; [] without any */
  whatIf: string[];
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

/** Cache is what a cut costs at the provider's cache. A request reads what it shares with the one before from the cache; from the first change on, all of it is written again. */
export interface Cache {
  /** BreakEvenRequests and BreakEvenTurns are after how many requests, or turns of as many requests as this conversation has had on average, what the cut saves exceeds what it costs; 0 is at once. Null is never: nothing is freed, or the cache reads for nothing. */
  breakEvenRequests: number | null;
  /** the same in turns */
  breakEvenTurns: number | null;
  /** the cache has expired: all is written again anyway */
  cold: boolean;
  /** when it expires; null where the last response is unknown */
  coldAt: string | null;
  /** ExpectedRequests is how many further requests ctxls expects: as many as there have been, or fewer until the host compacts. ExpectedTurns is the same in turns. */
  expectedRequests: number;
  /** the same in turns */
  expectedTurns: number;
  /** what the figures were worked out with */
  prices: Prices;
  /** what is kept after the first cut, and so is written again */
  rewrittenTokens: number;
}

/** Class counts the facts of one kind. */
export interface Class {
  /** Given are those that the rules give back. Used are those of them that the agent used in the next 20 responses; null is unknown. */
  given: number;
  /** before the compaction */
  known: number;
  /** by its summary */
  named: number;
  used: number | null;
}

/** CompactionsParams say whose compactions to list. */
export interface CompactionsParams {
  /** needed only if two hosts have a session with that ID; without one, only sessions of this host */
  host?: string;
  /** absent is the newest 50 sessions that were compacted */
  sessionId?: string;
  /** comes back as the token of $/progress */
  workDoneToken?: string;
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

/** Entry is what the record tells of one compaction: what its summary named, what ctxls gives back of the rest, and what the agent needed in the responses that followed. */
export interface Entry {
  /** null where the record does not say */
  at: string | null;
  /** the host did it by itself */
  automatic: boolean;
  /** commands that were run */
  commands: Class;
  /** a turn was going on */
  midTurn: boolean;
  /** files in use */
  paths: Class;
  postTokens: number | null;
  /** PreTokens and PostTokens are the host's own figures of the window before and after; null is unknown. */
  preTokens: number | null;
  rereads: Rereads;
  /** short prompts of the user; whether they were used is unknown */
  words: Class;
}

/** FilePart is the share of one file: all calls and results about it. */
export interface FilePart {
  /** as it may be shown */
  path: string;
  tokens: number;
}

/** Finding is a defect: something that a person wrote and a host does not load as it is meant. A size alone is none. */
export interface Finding {
  code:
    | 'import-missing'
    | 'import-punctuation'
    | 'import-too-deep'
    | 'import-circular'
    | 'import-outside'
    | 'import-kind'
    | 'loaded-twice'
    | 'file-cut'
    | 'file-dropped'
    | 'file-too-large'
    | 'file-unreadable'
    | 'description-cut'
    | 'description-missing'
    | 'listing-over-budget'
    | 'rule-matches-nothing'
    | 'frontmatter-unread';
  /** and where it ends; equal to Start where the file as a whole is meant */
  end: Place;
  host: string;
  message: string;
  path: string;
  /** offset in bytes where it begins in the file */
  start: Place;
  /** what the code means */
  url: string;
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

/** HostAudit is what a session of one host would hold. */
export interface HostAudit {
  /** no part is unknown */
  complete: boolean;
  /** that tokens are counted in */
  encoding: string;
  /** the encoding is the model's, and every part is known as it is sent */
  exact: boolean;
  host: string;
  /** the most expensive first; those that are unknown last */
  parts: AuditPart[];
  /** share of the window; null where that is not known */
  percent: number | null;
  /** the version of the host that the rules were captured from */
  rulesVersion: string;
  /** of all parts that are known */
  tokens: number;
  /** of the model; null where it is not known */
  windowTokens: number | null;
}

/** Item is something that can go. */
export interface Item {
  /** how sure it is that nothing later needs it */
  certainty: 'high' | 'medium' | 'low';
  /** why it can go */
  kind:
    | 'duplicate'
    | 'superseded'
    | 'thinking'
    | 'failed'
    | 'binary'
    | 'stale'
    | 'bulky'
    | 'sessionStarted'
    | 'sessionEnded'
    | 'sessionDeleted'
    | 'promptSubmitted'
    | 'toolStarting'
    | 'toolFinished'
    | 'batchFinished'
    | 'usageReported'
    | 'compactionOpened'
    | 'compactionDone'
    | 'turnFinished'
    | 'turnFailed'
    | 'agentStarted'
    | 'agentFinished'
    | 'handoffCompleted'
    | 'recordRead'
    | 'historySeen'
    | 'seen';
  /** what its going frees: what it counts without its placeholder */
  tokens: number;
  /** where it stands */
  where: Where;
  /** one clause, for people */
  why: string;
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

/** Listing is compactions with their sums. */
export interface Listing {
  /** of a session, oldest first */
  compactions: Entry[];
  totals: Totals;
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

/** Place is a place in a text. */
export interface Place {
  column: number;
  line: number;
}

/** PlanParams are a conversation, or a session whose host keeps a record of it, to make a plan of. */
export interface PlanParams {
  /** CompactionTokens is the size at which the conversation will be compacted, above 0; nil where that is unknown. */
  compactionTokens?: number;
  /** goes before the model's */
  encoding?: string;
  /** "none" (the default) or "openai": 3 a message, 1 a name, 3 for the reply */
  framing?: string;
  /** needed only where two hosts have a session of that id */
  host?: string;
  /** KeepLast protects that many of the newest groups; 4 where nil. A call and its results are one group. */
  keepLast?: number;
  /** when the model answered last; nil: the cache counts as warm */
  lastResponseAt?: string;
  /** an array of messages */
  messages: unknown;
  /** decides the encoding and the cost of images */
  model?: string;
  /** instead of those that ctxls knows of the model */
  prices?: PriceOptions;
  /** decides the cost of images if the model's name does not */
  provider?: string;
  /** Prune asks, for OpenCode, what to leave out of the request that is about to be made of messages, and has it remembered for the session. Nothing is left out unless the user has turned prune.enabled on. */
  prune?: boolean;
  /** instead of messages, or with prune their session */
  sessionId?: string;
  /** a string, an array of strings and blocks, or {parts} */
  system?: unknown;
  /** above 0: take no more items than it needs; nil: all */
  targetTokens?: number;
  /** an array of tool definitions */
  tools?: unknown;
  /** above 0: what the model accepts, for what counts as bulky */
  windowTokens?: number;
  /** comes back as the token of $/progress */
  workDoneToken?: string;
}

/** PlanResult is a plan. With prune it is of what is new in this request. */
export interface PlanResult {
  /** Advice is one sentence with figures, for people: cut now, or wait, and why. */
  advice: string;
  /** what would be left */
  afterTokens: number;
  /** what it costs to cut all items at once, now */
  cache: Cache;
  /** what the items free together */
  freeableTokens: number;
  /** Items are what can go: all that was found, or, with a target, the first of them that reach it. They stand in the order in which a trim takes them. */
  items: Item[];
  /** with prune: what to leave out, in place of which texts */
  pruned?: Pruned[];
  /** occupancy by the provider's arithmetic */
  tokens: number;
}

/** PriceOptions are what a caller knows better than ctxls. A nil member is unknown. */
export interface PriceOptions {
  /** as multiples of the price of plain input, 0 or above */
  cacheRead?: number;
  /** above 0 */
  cacheWrite?: number;
  /** above 0 */
  ttlSeconds?: number;
}

/** Prices are what a provider charges for input tokens, as multiples of the price of plain input. */
export interface Prices {
  /** the day as of which Source was read, as 2006-01-02 */
  asOf?: string;
  /** of tokens that the cache holds; 0 or above, and below CacheWrite */
  cacheRead: number;
  /** of tokens that are written to the cache */
  cacheWrite: number;
  /** what says so */
  source?: string;
  /** how long the cache keeps them after their last use */
  ttlSeconds: number;
}

/** Pruned is a part of an OpenCode message that all later requests leave out, with the text that replaces it. */
export interface Pruned {
  /** OpenCode's own id of the part */
  partId: string;
  /** what it is replaced with */
  text?: string;
  /** which member of the part is replaced */
  what: 'output' | 'input' | 'file' | 'part';
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

/** Rereads are reads of files in the next 20 responses. */
export interface Rereads {
  /** of files that were read before the compaction */
  again: number;
  reads: number;
  /** of the results of those, as 3.5 characters each */
  tokens: number;
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

/** Totals are sums over compactions. */
export interface Totals {
  commandsGiven: number;
  commandsUsed: number;
  compactions: number;
  pathsGiven: number;
  pathsUsed: number;
  /** of one compaction on average */
  rereadTokens: number;
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

/** Where says where an item stands. */
export interface Where {
  /** of a result, and of a failed input */
  callId?: string;
  /** index of its message; null where the conversation came from a host's record */
  message: number | null;
  /** the file that the call was about */
  path?: string;
  /** that was called */
  tool?: string;
  /** the turn that it is in: 1 is the first, 0 is before */
  turn: number;
}

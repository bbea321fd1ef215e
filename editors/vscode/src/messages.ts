// What the dashboard and its page tell each other.
import type { ContextOptimizationReport, Sample, SessionView } from './protocol.ts';

/** All that the page shows. It is data: the page writes it as text and nothing else. */
export interface Shown {
  type: 'show';
  /** The sessions to choose from: key and name. */
  sessions: { key: string; name: string; detail: string }[];
  session: ShownSession | null;
  report: ContextOptimizationReport | null;
  /** Why there is nothing to show; "" where there is. */
  failed: string;
}

export interface ShownSession {
  key: string;
  name: string;
  pinned: boolean;
  view: SessionView;
  /** Label and value, as people read them. */
  facts: [string, string][];
  percent: string;
  left: string;
  samples: Sample[];
  /** Null where it is not known what fills the window. */
  parts: Amount[] | null;
  files: Amount[];
  lastTurn: Amount[] | null;
  agents: { name: string; percent: string; share: number | null }[];
}

/** So many tokens of something. */
export interface Amount {
  name: string;
  tokens: number;
}

/** What the page asks for. */
export type Asked = { type: 'ready' } | { type: 'select'; key: string } | { type: 'pin'; key: string | null };

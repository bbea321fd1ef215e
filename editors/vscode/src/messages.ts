// The messages between the dashboard and its page.
import type { ReportResult, Sample, SessionView } from './protocol.ts';

/** Everything that the page shows. It is data: the page writes it as text and nothing else. */
export interface Shown {
  type: 'show';
  /** The sessions to choose from: key and name. */
  sessions: { key: string; name: string; detail: string }[];
  /** The section to bring into sight, once. */
  section: Section | null;
  session: ShownSession | null;
  report: ReportResult | null;
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
  /** What fills the window; empty where it is not known, and then why. */
  parts: Amount[];
  whyUnknown: string;
  files: Amount[];
  lastTurn: Amount[] | null;
  agents: { name: string; percent: string; share: number | null }[];
}

/** So many tokens of something. */
export interface Amount {
  name: string;
  tokens: number;
}

/** The sections of the page that a command can bring into sight. */
export type Section = 'history' | 'parts';

/** What the page asks for. A page can run no other command than those named here. */
export type Asked =
  | { type: 'ready' }
  | { type: 'select'; key: string }
  | { type: 'pin'; key: string | null }
  | { type: 'open'; key: string; path: string }
  | { type: 'run'; command: 'installHooks' | 'getStarted' | 'explainFailure' };

// The messages between the dashboard and its page.
import type { FleetReport, Known, Session } from '../../../internal/ui/page/types.d.ts';
import type { AuditReport, Listing } from './protocol.ts';

/** Everything that the page shows. It is data: the page writes it as text and nothing else. */
export interface Shown {
  type: 'show';
  /** When this was, in milliseconds since 1970. */
  now: number;
  /** The sessions to choose from: key and name. */
  sessions: { key: string; name: string; detail: string }[];
  /** The section to bring into sight, once. */
  section: Section | null;
  session: Session | null;
  /** The session is the one that is pinned to the status bar. */
  pinned: boolean;
  /** Without a session: what one of this folder would hold before its first prompt. */
  audit: Known<AuditReport>;
  report: Known<FleetReport>;
  /** The compactions of all sessions. */
  compactions: Known<Listing>;
  /** Why there is nothing to show; "" where there is. */
  failed: string;
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

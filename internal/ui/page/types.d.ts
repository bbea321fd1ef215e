// What the components are drawn from: the results of the server's methods, as they go over the wire.
import type {
  AuditReport,
  Breakdown,
  Listing,
  PlanResult,
  ReportResult,
  Sample,
  SessionDetail,
  SessionView,
} from '../../../editors/vscode/src/protocol.ts';

/** What is known: the data, or why there is none. Null is left out, undefined is not read yet. */
export type Known<T> = T | { why: string } | null | undefined;

/** A point of a session's history; at is in milliseconds since 1970. */
export type Point = { at: number; tokens: number; kind: Sample['kind'] };

export type FleetReport = ReportResult;

/** One session with all that is known of it. */
export interface Session {
  key: string;
  view: SessionView;
  points: Point[];
  breakdown: Known<Breakdown>;
  plan: Known<PlanResult>;
  compactions: Known<Listing>;
  audit: Known<AuditReport>;
}

/** What a reader can have done; where a function is missing, it is not offered. */
export interface Actions {
  /** Opens a file of the session in the editor. */
  open?: (path: string) => void;
}

/** What is in the file of the page. */
export interface PageData {
  now: string;
  report: FleetReport;
  compactions: Listing | null;
  /** What the directories of the sessions hold; sessions name theirs by its place here. */
  audits: AuditReport[];
  sessions: {
    detail: SessionDetail;
    /** Milliseconds since 1970, tokens, and the kind where it is not "usage". */
    points: [number, number, Point['kind']?][];
    plan: PlanResult | null;
    compactions: Listing | null;
    audit: number | null;
  }[];
}

// What fills a window, as servers tell it that know it.
interface Part {
  category: string;
  tool?: string;
  tokens: number;
}

declare module './protocol.ts' {
  interface SessionView {
    breakdown?: {
      tokens: number | null;
      why?: string;
      asOf: string | null;
      parts: Part[];
      files: { path: string; tokens: number }[];
      lastTurn: { since: string; tokens: number; parts: Part[] } | null;
    };
  }
}

export {};

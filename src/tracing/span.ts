/** One span of a trace, in plain terms; `otlp-json.ts` puts it on the wire. Types and names. */

export type AttributeValue = string | number | boolean;

export interface Span {
  /** 32 and 16 lower-case hexadecimal digits. */
  traceId: string;
  spanId: string;
  /** Null: the root. */
  parentSpanId: string | null;
  name: string;
  kind: 'internal' | 'client' | 'server';
  startEpochMs: number;
  endEpochMs: number;
  /** Those that are null are left out. */
  attributes: Readonly<Record<string, AttributeValue | null>>;
  /** Null: nothing is known to be wrong. */
  error: string | null;
}

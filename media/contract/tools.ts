/**
 * Custom tools (contract §14) as every side knows them: what an agent may use, what is asked, and what comes back. A
 * tool is used by the pipeline (`media/call/tools`), carried out by control (`src/tools`) or by the page of a web
 * session, and always ends in exactly one result. The zod schema that checks an import lives in `src/agents` and is
 * held equal to `ToolDefinition` by the compiler.
 */

export interface ToolDefinition {
  /** `http` (the default): control posts to `url`. `client`: the page of a web session does it. */
  kind?: 'http' | 'client';
  /** Unique in its agent: a letter or _, then letters, digits, _ or -, 48 at most. */
  name: string;
  /** For people, and later for language models. */
  description?: string;
  method?: 'POST';
  url?: string;
  /** Values may hold `{{secret.NAME}}`, which is resolved nowhere else. */
  headers?: Record<string, string>;
  /** JSON Schema of the arguments object, which is checked before each request. Absent: anything goes. */
  parameters?: Record<string, unknown>;
  /** For the whole use, a retry included. Default 10,000. */
  timeoutMs?: number;
  /** 1 only for what may happen twice. Default 0. */
  retries?: 0 | 1;
  /** Said in turn while the answer is waited for; may hold placeholders. Absent: `FILLERS`. */
  speakDuring?: string[];
  /** Of silence, before the first of them. Default 1,200. */
  speakAfterMs?: number;
  /** Said when it fails, before the step that follows. Absent: `SORRY`, if that step says nothing itself. */
  speakOnError?: string[];
  /** The arguments are the request's whole body. */
  argsAtRoot?: boolean;
  /** Variable → path in the answer's JSON (`media/contract/json-path.ts`). */
  responseVariables?: Record<string, string>;
  /** Default 32,768. */
  maxResponseBytes?: number;
}

export const TOOL_DEFAULTS = { timeoutMs: 10_000, speakAfterMs: 1_200, maxResponseBytes: 32_768 } as const;

export const FILLERS: readonly string[] = [
  'One moment, please.',
  'I am still looking.',
  'Thank you for waiting.',
  'It takes a little longer than usual.',
];
export const SORRY = 'I am sorry, I can not look that up right now.';

export const TOOL_FAILURES = [
  /** The agent has no tool of this name. */
  'unknown_tool',
  /** The arguments do not fit `parameters`; nothing was sent. */
  'bad_arguments',
  /** A header names a secret that the workspace does not have, or that fits no header; nothing was sent. */
  'missing_secret',
  /** The URL, or where it leads, is not allowed; nothing was sent. */
  'refused',
  /** No connection, or it broke. */
  'failed',
  'timeout',
  /** 3xx: not followed. */
  'redirected',
  /** Any other status that is not 2xx. */
  'http_error',
  /** Over `maxResponseBytes`. */
  'too_large',
  /** No JSON where it had to be. */
  'bad_answer',
  /** Too many uses failed lately; nothing was sent. */
  'circuit_open',
  /** Too many uses at once; nothing was sent. */
  'busy',
  /** The process that made the request died: it may or may not have arrived, and is not repeated. */
  'outcome_unknown',
  /** The call ended first. */
  'cancelled',
  /** A tool of a page, and the call has none. */
  'unsupported',
  /** The page says that it failed. */
  'client_error',
] as const;
export type ToolFailure = (typeof TOOL_FAILURES)[number];

export interface ToolAsk {
  /** One for each use, for ever: `Idempotency-Key` and `webhook-id` of its request. */
  toolCallId: string;
  name: string;
  arguments: Record<string, unknown>;
  /** Nobody waits for it any longer; wall clock. */
  expiresAtEpochMs: number;
}

/** What whoever carries it out says. `status` is that of HTTP, where there was one. */
export type ToolAnswer =
  | { ok: true; status: number | null; result: unknown }
  | { ok: false; code: ToolFailure; message: string; status: number | null };

/** What the agent gets, exactly once a use. `ms`: from the ask. */
export type ToolResult = ToolAnswer & { toolCallId: string; name: string; ms: number };

export function toolFailed(code: ToolFailure, message: string, status: number | null = null): ToolAnswer {
  return { ok: false, code, message, status };
}

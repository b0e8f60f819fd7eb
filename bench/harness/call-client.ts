/** The REST client that a customer would write: places calls, follows one as it happens, reads its log entry. */
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { PATIENCE_MS } from './patience.ts';

export interface PlacedCall {
  httpStatus: number;
  headers: Headers;
  body: { success: boolean; callUuid?: string; message?: string };
}

export interface CallEvent {
  kind: string;
  at: string;
  data: Record<string, unknown>;
}

/** A call log entry (contract §13), as far as the harness' users read it. */
export interface CallEntry {
  callUuid: string;
  status: string;
  endedReason: string | null;
  hangupBy: string | null;
  answeredAt: string | null;
  endedAt: string | null;
  durationSeconds: number | null;
  recording: {
    status: string;
    url?: string | null;
    sha256?: string | null;
    durationSeconds?: number | null;
    parts?: unknown[];
  } | null;
  transcript: string | null;
  turns: {
    turnId: string;
    role: 'agent' | 'user';
    startMs: number;
    endMs: number;
    text: string;
    heardText: string;
    interrupted: boolean;
    intent?: string;
  }[];
  analysisStatus: string;
  summary: string | null;
  intent: string | null;
  successful: boolean | null;
  data: Record<string, unknown>;
  latency: Record<string, unknown> | null;
  tools: { name: string; ms: number | null; status: number | null; outcome: string | null; error: string | null }[];
}

const POLL_MS = 200;

export class CallClient {
  readonly #base: string;
  readonly #headers: Record<string, string>;

  constructor(base: string, apiKey: string) {
    this.#base = base;
    this.#headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  }

  async place(body: object, headers: Record<string, string> = {}): Promise<PlacedCall> {
    const answer = await fetch(`${this.#base}/api/outbound-call`, {
      method: 'POST',
      headers: { ...this.#headers, ...headers },
      body: JSON.stringify(body),
    });
    return { httpStatus: answer.status, headers: answer.headers, body: (await answer.json()) as PlacedCall['body'] };
  }

  async entry(callUuid: string): Promise<CallEntry> {
    const answer = await fetch(`${this.#base}/api/developer/calls/${callUuid}`, { headers: this.#headers });
    if (!answer.ok) throw new Error(`the call log answered ${answer.status} for ${callUuid}`);
    return (await answer.json()) as CallEntry;
  }

  /** Server-sent events of a call, from its beginning to its end. */
  async *follow(callUuid: string, signal: AbortSignal): AsyncGenerator<CallEvent> {
    const answer = await fetch(`${this.#base}/api/developer/calls/${callUuid}/events`, {
      headers: { ...this.#headers, accept: 'text/event-stream' },
      signal,
    });
    if (!answer.ok || !answer.body) throw new Error(`the event stream answered ${answer.status}`);
    for await (const line of createInterface({ input: Readable.fromWeb(answer.body as never) })) {
      if (line.startsWith('data: ')) yield JSON.parse(line.slice(6)) as CallEvent;
    }
  }

  /** Polls the log entry until `wanted` accepts it. */
  async waitFor(
    callUuid: string,
    what: string,
    wanted: (entry: CallEntry) => boolean,
    limitMs = PATIENCE_MS,
  ): Promise<CallEntry> {
    const deadline = Date.now() + limitMs;
    for (;;) {
      // A poll may meet a process that has just died.
      const entry = await this.entry(callUuid).catch((error: unknown) =>
        Date.now() > deadline ? Promise.reject(error) : null,
      );
      if (entry !== null && wanted(entry)) return entry;
      if (entry !== null && Date.now() > deadline) {
        throw new Error(`waited ${limitMs} ms for ${what}; the call is ${entry.status}/${entry.endedReason ?? '-'}`);
      }
      await new Promise((done) => setTimeout(done, POLL_MS));
    }
  }
}

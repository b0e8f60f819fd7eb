/**
 * How an emulated provider is scripted and looked at from outside of its process: `GET` and `DELETE
 * /emulator/journal`, `POST /emulator/faults` (a list; `?now` strikes what is open), `POST /emulator/keys` (`{"allow":
 * …, "revoke": …}`), and what the provider has of its own. No key is asked for: it listens on loopback. Called by the
 * endpoint.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import { type FaultInput, faultSchema } from './fault.ts';
import type { Journal } from './journal.ts';

const faultsSchema = z.array(faultSchema);
const keysSchema = z.strictObject({ allow: z.string().optional(), revoke: z.string().optional() });

/** What an endpoint lets others do. */
export interface Controlled {
  readonly journal: Journal;
  /** Exchanges that are open. */
  readonly open: number;
  /** Faults for the exchanges that come next. */
  script(...faults: FaultInput[]): void;
  /** Strikes what is open now; `on` names whose path. Returns how many. */
  strike(fault: FaultInput): number;
  /** The key counts no longer; what is open with it goes on. */
  revoke(key: string): void;
  allow(key: string): void;
}

export async function answerControl(
  message: IncomingMessage,
  response: ServerResponse,
  endpoint: Controlled,
  ownRoutes: (route: string, body: unknown) => object | null = () => null,
): Promise<void> {
  const answer = (status: number, body: object): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  try {
    const url = new URL(message.url ?? '/', 'https://localhost');
    switch (`${message.method} ${url.pathname}`) {
      case 'GET /emulator/journal': {
        const { maxLatenessMs, forgotten } = endpoint.journal;
        const epochAtZeroMs = endpoint.journal.epochAtZeroMs;
        const entries = endpoint.journal.entries();
        return answer(200, { open: endpoint.open, maxLatenessMs, forgotten, epochAtZeroMs, entries });
      }
      case 'DELETE /emulator/journal':
        endpoint.journal.clear();
        return answer(200, {});
      case 'POST /emulator/faults': {
        const faults = faultsSchema.parse(await jsonOf(message));
        if (!url.searchParams.has('now')) endpoint.script(...faults);
        const struck = url.searchParams.has('now') ? faults.map((fault) => endpoint.strike(fault)) : [];
        return answer(200, { struck });
      }
      case 'POST /emulator/keys': {
        const { allow, revoke } = keysSchema.parse(await jsonOf(message));
        if (allow !== undefined) endpoint.allow(allow);
        if (revoke !== undefined) endpoint.revoke(revoke);
        return answer(200, {});
      }
      default: {
        const own = ownRoutes(
          `${message.method} ${url.pathname}`,
          message.method === 'GET' ? null : await jsonOf(message),
        );
        if (own !== null) return answer(200, own);
        return answer(404, { error: 'GET or DELETE /emulator/journal, POST /emulator/faults, POST /emulator/keys' });
      }
    }
  } catch (error) {
    answer(400, { error: error instanceof Error ? error.message : String(error) });
  }
}

async function jsonOf(message: IncomingMessage): Promise<unknown> {
  const pieces: Buffer[] = [];
  for await (const piece of message) pieces.push(piece as Buffer);
  return JSON.parse(Buffer.concat(pieces).toString('utf8'));
}

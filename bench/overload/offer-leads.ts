/**
 * Offers leads at a fixed rate, whether or not the ones before were answered, and waits until every call that came of
 * it is over.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { Pool } from 'undici';

export interface OfferedLead {
  status: number;
  code: string | null;
  retryAfter: string | null;
  callUuid: string | null;
}

/** A call log entry, as far as this bench reads it. */
export interface LoggedCall {
  callUuid: string;
  status: string;
  endedReason: string | null;
  answeredAt: string | null;
  endedAt: string | null;
  latency: { mouthToEarMs?: { p95: number } | null } | null;
  warnings: { code: string }[];
}

export interface LeadClient {
  /** Ids, in order. */
  create(count: number): Promise<string[]>;
  offer(leadIds: readonly string[], perSecond: number): Promise<OfferedLead[]>;
  /** Of the calls created since. */
  ended(count: number, sinceIso: string, limitMs: number): Promise<LoggedCall[]>;
  close(): Promise<void>;
}

const CONNECTIONS = 64;
const POLL_MS = 2_000;
const NAMES = ['Dana', 'Asha', 'Omar', 'Grace', 'Felix', 'Ruth', 'Ivan', 'Nora', 'Hugo', 'Edith', 'Peter', 'Clara'];
const FAMILY = ['Miller', 'Olson', 'Baker', 'Stone', 'Parker', 'Wells', 'Hunter', 'Reed', 'Foster', 'Lane', 'Cole'];

export function createLeadClient(
  baseUrl: string,
  apiKey: string,
  given: { enterprise: string; agentId: string },
): LeadClient {
  const pool = new Pool(baseUrl, { connections: CONNECTIONS, pipelining: 1 });
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  let made = 0;

  async function ask(method: 'GET' | 'POST', path: string, body?: object) {
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await pool.request({ method, path, headers, ...text });
    return { status: answer.statusCode, headers: answer.headers, body: (await answer.body.json()) as unknown };
  }

  async function call(leadId: string): Promise<OfferedLead> {
    const { status, headers: answered, body } = await ask('POST', `/api/developer/leads/${leadId}/call`, {});
    const header = (name: string): string | null => (answered[name] as string | undefined) ?? null;
    return {
      status,
      code: header('x-error-code'),
      retryAfter: header('retry-after'),
      callUuid: status === 200 ? (body as { callUuid: string }).callUuid : null,
    };
  }

  async function calls(sinceIso: string): Promise<LoggedCall[]> {
    const all: LoggedCall[] = [];
    let cursor = '';
    do {
      const query = `limit=200&createdAfter=${sinceIso}${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`;
      const { body } = await ask('GET', `/api/developer/calls?${query}`);
      const page = body as { data: LoggedCall[]; nextCursor: string | null };
      all.push(...page.data);
      cursor = page.nextCursor ?? '';
    } while (cursor !== '');
    return all;
  }

  return {
    async create(count) {
      const ids: string[] = [];
      for (let i = 0; i < count; i++, made++) {
        // A name for each, so that none finds another's greeting.
        const name = `${NAMES[made % NAMES.length]} ${FAMILY[Math.floor(made / NAMES.length) % FAMILY.length]}`;
        const phone = `+1415555${made % 10}${String(Math.floor(made / 10) % 1_000).padStart(3, '0')}`;
        const run = Math.floor(made / (NAMES.length * FAMILY.length));
        const fullName = run === 0 ? name : `${name} ${'junior senior third fourth fifth sixth'.split(' ')[run % 6]}`;
        const { status, body } = await ask('POST', '/api/developer/leads', { ...given, phone, name: fullName });
        if (status !== 201) throw new Error(`a lead was answered with ${status}: ${JSON.stringify(body)}`);
        ids.push((body as { lead: { id: string } }).lead.id);
      }
      return ids;
    },
    async offer(leadIds, perSecond) {
      const running: Promise<OfferedLead>[] = [];
      const beganAtMs = performance.now();
      for (const [index, leadId] of leadIds.entries()) {
        const inMs = beganAtMs + (index / perSecond) * 1_000 - performance.now();
        if (inMs > 1) await wait(inMs);
        running.push(call(leadId));
      }
      return Promise.all(running);
    },
    async ended(count, sinceIso, limitMs) {
      const untilMs = performance.now() + limitMs;
      for (;;) {
        const all = await calls(sinceIso);
        const over = all.filter(({ endedAt }) => endedAt !== null);
        if (over.length >= count || performance.now() > untilMs) return all;
        await wait(POLL_MS);
      }
    },
    close: () => pool.close(),
  };
}

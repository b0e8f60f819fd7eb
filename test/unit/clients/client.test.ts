import { describe, expect, it } from 'vitest';
import { createParleyClient, ParleyError } from '../../../clients/typescript/src/client.ts';

interface Sent {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: string | undefined;
}

/** Answers in turn; the last one stays. */
function service(...answers: (() => Response)[]) {
  const sent: Sent[] = [];
  const fetch = (async (url: string, init: RequestInit) => {
    const { method, headers, body } = init as { method: string; headers: Record<string, string>; body?: string };
    sent.push({ url, method, headers: { ...headers }, body });
    return answers[Math.min(sent.length, answers.length) - 1]!();
  }) as unknown as typeof globalThis.fetch;
  return { sent, fetch };
}

const json =
  (status: number, body: object, headers: Record<string, string> = {}) =>
  () =>
    new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', ...headers } });
const lost = () => {
  throw new TypeError('fetch failed');
};

const CALL = { body: { to: '+14155550123', agentId: 'a', enterprise: 'acme', from: 'f' } };
const PLACED = { success: true, callUuid: 'c1' };
const client = (fetch: typeof globalThis.fetch, change: object = {}) =>
  createParleyClient({ baseUrl: 'https://voice.test/', apiKey: 'sv_live_x', fetch, ...change });

describe('a request of the client', () => {
  it('puts path, query, body and key where the document says', async () => {
    const { sent, fetch } = service(json(200, { data: [], nextCursor: null }), json(200, PLACED));
    await client(fetch).listCalls({ limit: 5, status: 'completed' });
    await client(fetch).placeCall(CALL, { idempotencyKey: 'k1' });
    await client(fetch).readCall({ callUuid: 'a/b' });
    expect(sent.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET https://voice.test/api/developer/calls?status=completed&limit=5',
      'POST https://voice.test/api/outbound-call',
      'GET https://voice.test/api/developer/calls/a%2Fb',
    ]);
    expect(sent[1]).toMatchObject({
      headers: { authorization: 'Bearer sv_live_x', 'idempotency-key': 'k1', 'content-type': 'application/json' },
      body: JSON.stringify(CALL.body),
    });
    await expect(client(fetch).readCall({ callUuid: '' })).rejects.toThrow('readCall needs callUuid');
  });

  it('a placement is repeated under one key that it makes, after the Retry-After that it was told', async () => {
    const waits: number[] = [];
    const { sent, fetch } = service(
      lost as never,
      json(429, {}, { 'retry-after': '0', 'x-error-code': 'cps_limit' }),
      json(200, PLACED),
    );
    const onRetry = ({ waitMs }: { waitMs: number }): void => void waits.push(waitMs);
    const answer = await client(fetch, { onRetry }).placeCall(CALL);
    expect(answer.data).toEqual(PLACED);
    expect(sent).toHaveLength(3);
    const keys = new Set(sent.map(({ headers }) => headers['idempotency-key']));
    expect([...keys]).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/)]);
    expect(waits[1]).toBe(0);
  });

  it.each([
    ['a lost connection', lost as never],
    ['429', json(429, { message: 'Carrier rate limit exceeded' }, { 'retry-after': '0' })],
    ['500', json(500, { message: 'Internal server error' })],
    ['503', json(503, {}, { 'retry-after': '0' })],
  ])('without a key a placement is never repeated: %s', async (_name, answer) => {
    const { sent, fetch } = service(answer, json(200, PLACED));
    await expect(client(fetch).placeCall(CALL, { idempotencyKey: null })).rejects.toThrow();
    expect(sent).toHaveLength(1);
    expect(sent[0]?.headers['idempotency-key']).toBeUndefined();
  });

  it('what takes no key is sent once, a read twice more, and no longer wait than allowed', async () => {
    const ending = service(json(503, {}, { 'retry-after': '0' }));
    await expect(client(ending.fetch).hangUp({ callUuid: 'c' })).rejects.toThrow(ParleyError);
    expect(ending.sent).toHaveLength(1);
    const reading = service(json(503, {}, { 'retry-after': '0' }));
    await expect(client(reading.fetch).readCall({ callUuid: 'c' })).rejects.toThrow(ParleyError);
    expect(reading.sent).toHaveLength(3);
    const long = service(json(429, {}, { 'retry-after': '61' }));
    await expect(client(long.fetch).readCall({ callUuid: 'c' })).rejects.toMatchObject({ retryAfterSeconds: 61 });
    expect(long.sent).toHaveLength(1);
  });

  it('an unsettled key is asked again, a refusal is told with all that it says', async () => {
    const unsettled = json(409, {}, { 'x-error-code': 'idempotency_state_unknown', 'retry-after': '0' });
    const settled = service(unsettled, json(200, PLACED, { 'idempotent-replayed': 'true' }));
    expect((await client(settled.fetch).placeCall(CALL)).replayed).toBe(true);
    const details = [{ field: 'steps[2].goto', issue: 'no such step' }];
    const headers = { 'x-error-code': 'invalid_agent', 'x-request-id': 'r1' };
    const refused = service(json(400, { success: false, message: 'The agent has faults', details }, headers));
    const failing = client(refused.fetch).createAgent({ body: { definition: {} } });
    await expect(failing).rejects.toMatchObject({
      status: 400,
      code: 'invalid_agent',
      requestId: 'r1',
      message: 'The agent has faults',
      details,
    });
  });
});

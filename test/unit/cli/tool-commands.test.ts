import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { importAgent } from '../../../src/agents/stored-agents.ts';
import { type Ran, runParley } from '../../support/command-line.ts';
import { orderAgent } from '../../support/order-agent.ts';
import { type ApiFixture, createApiFixture } from '../api/api-fixture.ts';
import { startReceiver, type TestReceiver } from '../media/net/test-receiver.ts';

const CANARY = 'canary-77e0a1b2';
let api: ApiFixture;
let receiver: TestReceiver;
let agentId: string;
beforeAll(async () => {
  api = await createApiFixture();
  receiver = await startReceiver((request, response, number) => {
    if (number === 1) response.end(JSON.stringify({ order: { day: 'Thursday' }, seen: request.headers.authorization }));
    else response.writeHead(302, { location: '/' }).end();
  });
  const definition = orderAgent({}, { url: `http://127.0.0.1:${receiver.port}/order` });
  agentId = (await importAgent(api.database, { slug: 'acme', definition })).id;
});
afterAll(async () => {
  await receiver.close();
  await api.close();
});

async function parley(words: string[], input = ''): Promise<Ran> {
  return runParley(
    words,
    {
      DATABASE_URL: api.connectionString,
      PARLEY_MASTER_KEY: 'ab'.repeat(32),
      WEBHOOK_ALLOW_CIDRS: '127.0.0.1/32',
    },
    input,
  );
}
const test = (...more: string[]) => parley(['tool', 'test', agentId, 'lookup_order', ...more]);

describe('parley secret and parley tool', () => {
  it('try a tool as a call would use it, and show everything but the secrets', async () => {
    const missing = await test('--arguments', '{"order":"42"}');
    expect(missing.out).toMatch(
      /Nothing was sent\.\n\nFailed \(missing_secret\) after \d+ ms: There is no secret 'SHOP_KEY'\./,
    );
    expect(missing.code).toBe(1);
    expect((await parley(['secret', 'set', 'acme', 'SHOP_KEY', '--value', CANARY])).err).toContain('shell history');
    const set = await parley(['secret', 'set', 'acme', 'SHOP_KEY', '--value-file', '-'], `${CANARY}\n`);
    const list = await parley(['secret', 'list', 'acme']);
    expect(list.out).toContain('SHOP_KEY');

    const tried = await test('--arguments', '{"order":"42"}');
    expect(tried.code).toBe(0);
    expect(tried.out).toContain(`POST http://127.0.0.1:${receiver.port}/order`);
    expect(tried.out).toContain('  authorization: Bearer {{secret.SHOP_KEY}}');
    expect(tried.out).toContain('"arguments":{"order":"42"}');
    expect(tried.out).toContain('Not signed: the workspace has no webhook secret.');
    expect(tried.out).toMatch(/Answered 200 in \d+ ms: \{"order":\{"day":"Thursday"\},"seen":"Bearer \[secret\]"\}/);
    expect(tried.out).toContain('  {{day}} = Thursday');
    expect(receiver.requests[0]!.headers.authorization).toBe(`Bearer ${CANARY}`);
    const made = await parley(['secret', 'set', 'acme', 'TOOL_SIGNING_SECRET', '--generate']);
    expect(made.out).toMatch(/^whsec_/);
    const redirected = await test('--arguments', '{"order":"42"}');
    expect(redirected.out).toContain('Failed (redirected)');
    expect(redirected.out).toMatch(/webhook-signature: v1,/);
    for (const { out, err } of [set, list, tried, redirected]) expect(out + err).not.toContain(CANARY);
  });

  it('refuse what makes no sense, in a sentence', async () => {
    expect((await test('--arguments', '[1]')).err).toContain('--arguments must be a JSON object');
    expect((await test('--arguments', '{"order":"x"}')).out).toContain('Failed (bad_arguments)');
    expect((await parley(['tool', 'test', agentId, 'other'])).err).toContain("no tool 'other'; it has lookup_order");
    expect((await parley(['tool', 'test', 'nobody', 'x'])).err).toContain("There is no agent 'nobody'");
    expect((await parley(['secret', 'set', 'acme', '1x', '--value-file', '-'], 'a')).err).toContain("'1x' is no name");
    expect((await parley(['secret', 'remove', 'acme', 'NONE'])).err).toContain("no secret 'NONE'");
  });

  it('show the last uses of each tool of an agent, as the API does to its own workspace', async () => {
    const callUuid = await api.insertCall(api.acme, {
      status: 'completed',
      ended_reason: 'agent_hangup',
      ended_at: '2026-11-21T10:00:48Z',
    });
    for (const [n, ms, outcome, code] of [
      [1, 100, 'ok', null],
      [2, 300, 'ok', null],
      [3, 10_000, 'failed', 'timeout'],
    ] as const) {
      await api.database.query(`INSERT INTO tool_calls VALUES ($1, $2, $3, $4, 'lookup_order', $5, $6, $7, $8, $9)`, [
        callUuid,
        `tc_${n}`,
        api.acme.workspaceId,
        agentId,
        `2026-11-21T10:00:0${n}Z`,
        outcome,
        code,
        code === null ? 200 : null,
        ms,
      ]);
    }
    const { out } = await parley(['tool', 'uses', 'acme', agentId, '--last']);
    expect(out).toMatch(/lookup_order +3 +1 +0 +300 +10000/);
    expect(out).toContain('timeout');
    const read = (key: string, id = agentId) =>
      api.app.inject({ url: `/api/developer/agents/${id}/tools`, headers: { authorization: `Bearer ${key}` } });
    const answer = await read(api.acme.key);
    expect(answer.json()).toMatchObject({
      data: [
        { name: 'lookup_order', uses: 3, failed: 1, p50Ms: 300, p95Ms: 10_000, last: [{ error: 'timeout' }, {}, {}] },
      ],
    });
    expect((await read(api.other.key)).statusCode).toBe(404);
    expect((await read(api.acme.key, 'nobody')).statusCode).toBe(404);
  });
});

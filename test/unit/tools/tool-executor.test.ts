/**
 * Tools as control carries them out, on a real database and real sockets: at most one request a
 * use, one row, and no secret anywhere.
 */
import type { ServerResponse } from 'node:http';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ConversationEvent } from '../../../media/contract/conversation.ts';
import type { ToMedia } from '../../../media/contract/link-messages.ts';
import type { ToolAsk, ToolDefinition } from '../../../media/contract/tools.ts';
import { createAddressGuard } from '../../../media/net/address-guard.ts';
import { createGuardedClient } from '../../../media/net/guarded-client.ts';
import { readCallView } from '../../../src/api/calls/call-view.ts';
import { searchCalls } from '../../../src/call-log/call-log-search.ts';
import { createMediaMessages } from '../../../src/media-link/media-messages.ts';
import { createRecordingLinks } from '../../../src/recordings/recording-links.ts';
import { createSealer } from '../../../src/sealing/sealer.ts';
import { generateSigningSecret, listSecrets, removeSecret, setSecret } from '../../../src/tools/secrets.ts';
import { createToolExecutor, type ToolExecutor, type ToolsElsewhere } from '../../../src/tools/tool-executor.ts';
import { toolFigures } from '../../../src/tools/tool-log.ts';
import { subscribe } from '../../../src/webhooks/endpoint.ts';
import { inTheirOrder, type MessagesInOrder } from '../../support/in-their-order.ts';
import { orderAgent } from '../../support/order-agent.ts';
import { createHarness, type Harness, MASTER_KEY } from '../lifecycle/harness.ts';
import { talkingCall } from '../lifecycle/talk.ts';
import { type Answer, startReceiver, type TestReceiver } from '../media/net/test-receiver.ts';

const CANARY = 'canary-9c1d7b40aa';
const sealer = createSealer(MASTER_KEY);
let h: Harness;
let links: ReturnType<typeof createRecordingLinks>;
let receiver: TestReceiver;
let answer: Answer;
let executor: ToolExecutor;
let messages: MessagesInOrder;
let logged: string[];
const found = (response: ServerResponse): void =>
  void response.writeHead(200, { 'content-type': 'application/json' }).end('{"order":{"day":"Thursday"}}');

beforeAll(async () => {
  h = await createHarness();
  links = createRecordingLinks(MASTER_KEY, 'http://voice.example.com', h.clock);
  receiver = await startReceiver((request, response, number) => answer(request, response, number));
  await setSecret(h.database, sealer, { slug: 'acme', name: 'SHOP_KEY', value: CANARY });
  await generateSigningSecret(h.database, sealer, { slug: 'acme' });
});
afterAll(async () => {
  await receiver.close();
  await h.close();
});

beforeEach(async () => {
  receiver.requests.length = 0;
  answer = (_request, response) => found(response);
  h.toMedia.length = 0;
  logged = [];
  await serve({});
});
afterEach(() => executor.close());

/** A run of control, and the agent with its tool as `change` has it. */
async function serve(change: Partial<ToolDefinition>): Promise<void> {
  const definition = orderAgent({}, { url: `http://127.0.0.1:${receiver.port}/order`, ...change });
  await h.database.query('UPDATE agent_versions SET definition = $1', [JSON.stringify(definition)]);
  startControl();
}

function startControl(elsewhere?: ToolsElsewhere): void {
  const { clock, database, transitions, pool } = h;
  const log = pino({ level: 'debug' }, { write: (line: string) => void logged.push(line) });
  const http = createGuardedClient({ guard: createAddressGuard(['127.0.0.1/32']), clock });
  const answerer = pool.toolAnswered;
  executor = createToolExecutor({ http, sealer, clock, log, answer: answerer, ...(elsewhere && { elsewhere }) });
  const webhookDispatcher = { dispatch: (ids: readonly string[]) => void h.dispatched.push(...ids) };
  const bus = { publish: () => {}, isFollowed: () => true };
  messages = inTheirOrder(
    createMediaMessages({
      database,
      clock,
      log,
      bus,
      transitions,
      tools: executor,
      webhookDispatcher,
      recordings: { node: 'test', nudge: () => {}, offer: () => null },
      sealer,
      links,
      replied: () => {},
    }),
  );
}

const askOf = (callUuid: string, change: Partial<ToolAsk> = {}): ToolAsk => ({
  toolCallId: `tc_${callUuid.replaceAll('-', '')}_1_00000000`,
  name: 'lookup_order',
  arguments: { order: '42' },
  expiresAtEpochMs: h.clock.epochMs() + 10_000,
  ...change,
});
const ask = (callUuid: string, change: Partial<ToolAsk> = {}, epoch = 1): Promise<void> =>
  messages.handle([{ type: 'tool.call', callUuid, epoch, ask: askOf(callUuid, change) }]);
const answersTo = (callUuid: string): Extract<ToMedia, { type: 'tool.answer' }>[] =>
  h.toMedia.flatMap((one) => (one.type === 'tool.answer' && one.callUuid === callUuid ? [one] : []));
const answered = (callUuid: string, count = 1) =>
  h.until('the answer', () => (answersTo(callUuid).length >= count ? answersTo(callUuid) : undefined));
const rows = (callUuid: string) =>
  h.database.query<{ name: string; outcome: string | null; code: string | null; ms: number | null }>(
    'SELECT name, outcome, code, ms FROM tool_calls WHERE call_uuid = $1',
    [callUuid],
  );
const ended = (callUuid: string, change: object = {}) => {
  const event = {
    type: 'tool',
    phase: 'end',
    toolCallId: askOf(callUuid).toolCallId,
    name: 'lookup_order',
    atMs: 9_000,
    outcome: 'ok',
    code: null,
    status: 200,
    ms: 420,
    ...change,
  } as ConversationEvent;
  return messages.handle([{ type: 'live', callUuid, epoch: 1, atEpochMs: h.clock.epochMs(), event }]);
};

describe('an ask', () => {
  it('is one request, one row before it leaves, and one answer to who carries the call', async () => {
    const callUuid = await talkingCall(h, { metadata: { plan: 'gold', 'secret.pin': '1234' } });
    let rowsAtRequest = -1;
    answer = (_request, response) => {
      void rows(callUuid).then((found) => {
        rowsAtRequest = found.length;
        response.end('{"order":{"day":"Thursday"}}');
      });
    };
    await ask(callUuid);
    expect((await answered(callUuid)).map((one) => one.answer)).toEqual([
      { ok: true, status: 200, result: { order: { day: 'Thursday' } } },
    ]);
    expect(rowsAtRequest).toBe(1);
    const body = JSON.parse(receiver.requests[0]!.body) as { call: object };
    expect(body.call).toMatchObject({
      callUuid,
      enterprise: 'acme',
      direction: 'outbound',
      metadata: { plan: 'gold' },
    });
    expect(receiver.requests[0]!.headers).toMatchObject({
      authorization: `Bearer ${CANARY}`,
      'webhook-signature': expect.stringMatching(/^v1,/),
    });
  });

  it('that comes again while it is at work, and after, makes no second request and is answered each time it is known', async () => {
    const callUuid = await talkingCall(h);
    let respond = (): void => {};
    answer = (_request, response) => {
      respond = () => found(response);
    };
    await ask(callUuid);
    await receiver.received(1);
    await ask(callUuid);
    respond();
    await answered(callUuid);
    await ask(callUuid);
    expect(await answered(callUuid, 2)).toHaveLength(2);
    expect(receiver.requests).toHaveLength(1);
  });

  it('that a dead run of control had begun is not repeated, unless the tool may be', async () => {
    for (const [retries, expected, requests] of [
      [0, { ok: false, code: 'outcome_unknown' }, 0],
      [1, { ok: true }, 1],
    ] as const) {
      await serve({ retries });
      const callUuid = await talkingCall(h);
      answer = () => {};
      const before = receiver.requests.length;
      await ask(callUuid);
      await receiver.received(before + 1);
      // The run dies here; the next one hears the ask again.
      answer = (_request, response) => found(response);
      startControl();
      await ask(callUuid);
      expect((await answered(callUuid)).at(-1)!.answer).toMatchObject(expected);
      expect(receiver.requests.length - before - 1).toBe(requests);
      const keys = receiver.requests.slice(before).map(({ headers }) => headers['idempotency-key']);
      expect(new Set(keys).size).toBe(1);
    }
  });

  it.each([0, 1] as const)(
    'that comes from the node to which the call has gone is answered by the node that is at work on it; retries: %i',
    async (retries) => {
      await serve({ retries });
      const callUuid = await talkingCall(h);
      const { toolCallId } = askOf(callUuid);
      const open: ServerResponse[] = [];
      answer = (_request, response) => void open.push(response);
      await ask(callUuid);
      await receiver.received(1);
      const former = executor;
      const cancelled: string[] = [];
      startControl({
        adopt: async (id, ownerRun) => former.handTo(id, ownerRun),
        cancel: (id) => void cancelled.push(id),
      });
      const { owner_run: ownerRun } = (
        await h.database.query<{ owner_run: string }>('SELECT owner_run FROM calls WHERE call_uuid = $1', [callUuid])
      )[0]!;
      await ask(callUuid);
      found(open[0]!);
      expect((await answered(callUuid)).map((one) => one.answer)).toMatchObject([{ ok: true }]);
      expect(former.handTo(toolCallId, ownerRun), 'its answer, once more').toBe(true);
      expect(await answered(callUuid, 2)).toHaveLength(2);
      expect(former.handTo('unknown', ownerRun)).toBe(false);
      expect(receiver.requests).toHaveLength(1);
      executor.cancel(toolCallId);
      expect(cancelled).toEqual([toolCallId]);
      await former.close();
    },
  );

  it('of an owner that was replaced, or for which nobody waits any longer, makes no request', async () => {
    const callUuid = await talkingCall(h);
    await ask(callUuid, {}, 0);
    await ask(callUuid, { expiresAtEpochMs: h.clock.epochMs() });
    expect(await rows(callUuid)).toEqual([]);
    expect(receiver.requests).toHaveLength(0);
  });

  it('that is called off, before or while it is at work, ends without a second word', async () => {
    const callUuid = await talkingCall(h);
    executor.cancel(askOf(callUuid).toolCallId);
    await ask(callUuid);
    expect(receiver.requests).toHaveLength(0);
    let closed = (): void => {};
    const gone = new Promise<void>((resolve) => {
      closed = resolve;
    });
    answer = (_request, response) => void response.on('close', closed);
    const second = await talkingCall(h);
    await ask(second);
    await receiver.received(1);
    executor.callEnded(second);
    await gone;
    expect((await answered(second)).map((one) => one.answer)).toMatchObject([{ ok: false, code: 'cancelled' }]);
    expect(executor.running()).toBe(0);
  });

  it('for an unknown tool, for a tool of a page, or without its secret is answered at once', async () => {
    const unknown = await talkingCall(h);
    await ask(unknown, { name: 'open_page' });
    expect((await answered(unknown))[0]!.answer).toMatchObject({ code: 'unknown_tool' });
    await serve({ headers: { 'x-key': '{{secret.NOWHERE}}' } });
    const secretless = await talkingCall(h);
    await ask(secretless);
    expect((await answered(secretless))[0]!.answer).toMatchObject({ code: 'missing_secret' });
    expect(receiver.requests).toHaveLength(0);
  });

  it('to an endpoint that failed 20 times is not sent for 30 s', async () => {
    answer = (_request, response) => void response.writeHead(500).end();
    for (let i = 0; i < 20; i++) {
      const callUuid = await talkingCall(h);
      await ask(callUuid);
      await answered(callUuid);
    }
    expect(executor.openBreakers()).toBe(1);
    const refused = await talkingCall(h);
    await ask(refused);
    expect((await answered(refused))[0]!.answer).toMatchObject({ code: 'circuit_open' });
    expect(receiver.requests).toHaveLength(20);
    h.clock.advanceMs(30_000);
    answer = (_request, response) => found(response);
    const tried = await talkingCall(h);
    await ask(tried);
    expect((await answered(tried))[0]!.answer).toMatchObject({ ok: true });
  });

  it('beyond 40 at once of one workspace is answered `busy`', async () => {
    answer = () => {};
    const calls = await Promise.all(Array.from({ length: 41 }, () => talkingCall(h)));
    for (const callUuid of calls) await ask(callUuid);
    expect((await answered(calls.at(-1)!))[0]!.answer).toMatchObject({ code: 'busy' });
    expect(executor.running()).toBe(40);
    for (const callUuid of calls) executor.callEnded(callUuid);
    await h.until('quiet', () => (executor.running() === 0 ? true : undefined));
  });
});

describe('what is left of a use', () => {
  it('stands in the entry, its events, the latency, the filter and the figures; a failure is told to who asked for it', async () => {
    const [{ id: workspaceId } = { id: '' }] = await h.database.query<{ id: string }>('SELECT id FROM workspaces');
    await subscribe(h.database, workspaceId, ['tool.failed']);
    const good = await talkingCall(h);
    await ask(good);
    await answered(good);
    await ended(good);
    const bad = await talkingCall(h);
    await ended(bad, { outcome: 'failed', code: 'timeout', status: null, ms: 10_010 });
    await ended(bad, { outcome: 'failed', code: 'timeout', status: null, ms: 10_010 });

    const view = await readCallView({ database: h.database, links }, { workspaceId, callUuid: good });
    expect(view).toMatchObject({
      tools: [{ name: 'lookup_order', ms: 420, status: 200, outcome: 'ok', error: null }],
      latency: { toolMs: { p50: 420, p95: 420, count: 1 } },
      warnings: [],
    });
    expect(await h.log(good)).toContainEqual(
      expect.objectContaining({ kind: 'tool', data: expect.objectContaining({ phase: 'end', ms: 420 }) }),
    );
    const failed = await readCallView({ database: h.database, links }, { workspaceId, callUuid: bad });
    expect(failed).toMatchObject({
      tools: [{ outcome: 'failed', error: 'timeout' }],
      warnings: [{ code: 'tool.failed', key: null, count: 1 }],
    });
    const search = { workspaceId, filters: { toolErrored: true }, after: null, limit: 10 };
    expect((await searchCalls(h.database, search)).callUuids).toEqual([bad]);
    expect(await h.webhooks(good)).toEqual([]);
    // Media may say it twice.
    expect(await h.webhooks(bad)).toEqual(['tool.failed']);
    const [event] = await h.database.query<{ body: string }>('SELECT body FROM webhook_events WHERE call_uuid = $1', [
      bad,
    ]);
    expect(JSON.parse(event!.body)).toMatchObject({
      event: 'tool.failed',
      callUuid: bad,
      tool: { name: 'lookup_order', error: 'timeout', status: null, ms: 10_010 },
    });
    const [{ agentId } = { agentId: '' }] = await h.database.query<{ agentId: string }>(
      'SELECT id AS "agentId" FROM agents',
    );
    const [figures] = await toolFigures(h.database, { workspaceId, agentId });
    expect(figures!.uses).toBeLessThanOrEqual(100);
    expect(figures!.failed).toBe(1);
  });

  it('of a call that ended before anybody told of its result is `cancelled`', async () => {
    const callUuid = await talkingCall(h);
    await ask(callUuid);
    await answered(callUuid);
    const [{ id: workspaceId } = { id: '' }] = await h.database.query<{ id: string }>('SELECT id FROM workspaces');
    const view = () => readCallView({ database: h.database, links }, { workspaceId, callUuid });
    expect(await view()).toMatchObject({ tools: [{ outcome: null, ms: null }] });
    await h.database.query(
      `UPDATE calls SET status = 'completed', ended_reason = 'user_hangup', ended_at = now() WHERE call_uuid = $1`,
      [callUuid],
    );
    expect(await view()).toMatchObject({ tools: [{ outcome: 'cancelled' }] });
  });
});

describe('a secret', () => {
  it('is in no table in the open, in no list, in no log line, and gone when it is removed', async () => {
    const callUuid = await talkingCall(h);
    answer = (request, response) => void response.writeHead(500).end(String(request.headers.authorization));
    await ask(callUuid);
    await answered(callUuid);
    const tables = await h.database.query<{ name: string }>(
      `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`,
    );
    for (const { name } of tables) {
      const found = await h.database.query(`SELECT 1 FROM "${name}" AS t WHERE t::text LIKE $1 LIMIT 1`, [
        `%${CANARY}%`,
      ]);
      expect([name, found.length]).toEqual([name, 0]);
    }
    expect(JSON.stringify(await listSecrets(h.database, { slug: 'acme' }))).not.toContain(CANARY);
    expect(logged.join()).toContain('a tool failed');
    expect(logged.join() + JSON.stringify(answersTo(callUuid))).not.toContain(CANARY);
    await setSecret(h.database, sealer, { slug: 'acme', name: 'OLD', value: 'x' });
    await removeSecret(h.database, { slug: 'acme', name: 'OLD' });
    await expect(removeSecret(h.database, { slug: 'acme', name: 'OLD' })).rejects.toThrow("no secret 'OLD'");
  });

  it.each(['', 'two\nlines', 'schlüssel', 'x'.repeat(2_001)])('that fits no header is refused: %j', async (value) => {
    await expect(setSecret(h.database, sealer, { slug: 'acme', name: 'BAD', value })).rejects.toThrow(
      'printable ASCII',
    );
  });
});

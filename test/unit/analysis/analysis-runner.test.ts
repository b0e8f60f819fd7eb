import pino from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { OutboundRequest, OutboundResult } from '../../../media/net/outbound-http.ts';
import { claimJob } from '../../../src/analysis/analysis-jobs.ts';
import { type AnalysisRunner, createAnalysisRunner } from '../../../src/analysis/analysis-runner.ts';
import { BY_OPERATOR } from '../../../src/audit/audit-entry.ts';
import { searchCalls } from '../../../src/call-log/call-log-search.ts';
import { deleteCallParts } from '../../../src/retention/call-log-delete.ts';
import { createHarness, type Harness } from '../lifecycle/harness.ts';
import { placedCall, talkingCall } from '../lifecycle/talk.ts';
import { turnsOf } from './sample-story.ts';

let h: Harness;
let runner: AnalysisRunner;
let asked: OutboundRequest[];
let answer: (request: OutboundRequest) => Promise<OutboundResult> | OutboundResult;
const observed: string[] = [];

beforeAll(async () => {
  h = await createHarness();
});
afterEach(async () => {
  await runner.close();
  await h.database.query('DELETE FROM analysis_models');
  await h.database.query('DELETE FROM provider_connections');
  await h.database.query('DELETE FROM analysis_jobs');
});
afterAll(() => h.close());

function start(database = h.database): AnalysisRunner {
  asked = [];
  runner = createAnalysisRunner({
    ...h,
    database,
    log: pino({ level: 'silent' }),
    bus: { publish: (event) => void h.published.push(event) },
    random: () => 0.5,
    sealer: { open: (sealed) => sealed.toString() },
    http: {
      async send(request) {
        asked.push(request);
        return answer(request);
      },
      close: async () => {},
    },
    webhookDispatcher: { dispatch: (ids) => void h.dispatched.push(...ids) },
    observed: { analysed: (by) => void observed.push(by), asked: (outcome) => void observed.push(`asked ${outcome}`) },
  });
  return runner;
}

const LINES = turnsOf([
  ['agent', 'Can you come on tuesday at three?', 'ask'],
  ['user', 'yes please', 'accept'],
]);

async function endedCall(lines = LINES): Promise<string> {
  const callUuid = await talkingCall(h, {
    to: `+1415555${Math.floor(1_000 + Math.random() * 9_000)}`,
    guardDuplicates: false,
  });
  const messages = lines.map((turn) => ({
    type: 'live' as const,
    callUuid,
    epoch: 1,
    atEpochMs: h.clock.epochMs(),
    event: { type: 'turn' as const, turn },
  }));
  if (messages.length > 0) await h.messages.handle(messages);
  await h.messages.handle([
    { type: 'media.stopped', callUuid, epoch: 1, why: 'socket_closed', durationMs: 4_000, latencies: [] },
  ]);
  await h.transitions.apply(callUuid, {
    type: 'carrier.ended',
    carrierCallId: 'leg',
    end: { reason: null, hangupBy: 'caller', sipCode: null, carrierCause: null, durationSeconds: 4 },
  });
  return callUuid;
}

async function body(callUuid: string): Promise<Record<string, unknown>> {
  const rows = await h.database.query<{ body: string }>(
    `SELECT body FROM webhook_events WHERE call_uuid = $1 AND event = 'analysis.completed'`,
    [callUuid],
  );
  expect(rows).toHaveLength(1);
  return JSON.parse(rows[0]!.body) as Record<string, unknown>;
}

async function ring(callUuid: string): Promise<void> {
  runner.callEnded({ ...(await h.call(callUuid)), analysisStatus: 'pending' });
}

const setModel = async (callUuid: string): Promise<void> => {
  const { workspaceId } = await h.call(callUuid);
  await h.database.query(
    `INSERT INTO provider_connections (workspace_id, name, version, provider, base_url, credentials_sealed)
     VALUES ($1, 'reader', 1, 'openai_compatible', 'https://llm.example/v1', '{"apiKey":"sk-canary"}')`,
    [workspaceId],
  );
  await h.database.query(`INSERT INTO analysis_models (workspace_id, connection, model) VALUES ($1, 'reader', 'm-1')`, [
    workspaceId,
  ]);
};
const chatAnswer = (content: unknown): OutboundResult => ({
  kind: 'answered',
  status: 200,
  retryAfter: null,
  responseMs: 5,
  isBodyWhole: true,
  body: JSON.stringify({ choices: [{ finish_reason: 'stop', message: { content: JSON.stringify(content) } }] }),
});
const FORM = {
  summary: 'The caller said yes.',
  intent: 'book_appointment',
  intentConfidence: 0.876,
  sentiment: 'positive',
  successful: true,
  successReason: 'They will come.',
  language: 'en-GB',
  disposition: 'will come',
  evidence: [
    { turnId: 't2', quote: 'Yes please' },
    { turnId: 't2', quote: 'with pleasure' },
  ],
};

/** Time passes until the runner has nothing under way; its pauses are on the virtual clock. */
async function settle(callUuid: string): Promise<void> {
  await h.until(`the analysis of ${callUuid}`, async () => {
    if ((await h.call(callUuid)).analysisStatus !== 'pending') return true;
    h.clock.advanceMs(500);
    return undefined;
  });
  await runner.idle();
}

describe('an answered call without a model', () => {
  it('is pending at its end, and analysed once it rings: event after the terminal one, entry, filters, event log', async () => {
    start();
    const callUuid = await endedCall();
    expect((await h.call(callUuid)).analysisStatus).toBe('pending');
    await ring(callUuid);
    await runner.idle();
    expect(await h.webhooks(callUuid)).toEqual(['call.completed', 'analysis.completed']);
    expect(await body(callUuid)).toMatchObject({
      intent: 'other',
      summary: expect.stringContaining('yes please'),
      analysisStatus: 'ready',
      transcript: 'Agent: Can you come on tuesday at three?\nCustomer: yes please',
      analysis: {
        intent: 'other',
        intentConfidence: 0.3,
        sentiment: 'neutral',
        successful: null,
        successReason: null,
        data: {},
        language: 'en-US',
        disposition: null,
        evidence: [],
        model: 'parley-heuristic-1',
      },
    });
    const call = await h.call(callUuid);
    expect(call).toMatchObject({ analysisStatus: 'ready', analysis: { model: 'parley-heuristic-1' }, warnings: [] });
    const found = await searchCalls(h.database, {
      workspaceId: call.workspaceId,
      filters: { intent: ['other'], sentiment: ['neutral'], q: '"stayed on the line"' },
      after: null,
      limit: 5,
    });
    expect(found.callUuids).toEqual([callUuid]);
    expect((await h.log(callUuid)).at(-1)).toMatchObject({ kind: 'analysis', data: { status: 'ready' } });
    expect(asked).toEqual([]);
    expect(observed).toContain('heuristic');
  });

  it('nobody rings: the sweep finds it within 5 s', async () => {
    const callUuid = await endedCall();
    start().start();
    await h.until('the sweep', async () => {
      h.clock.advanceMs(1_000);
      return (await h.call(callUuid)).analysisStatus === 'ready' || undefined;
    });
    expect(await h.webhooks(callUuid)).toEqual(['call.completed', 'analysis.completed']);
  });

  it('two that take it at once write one event', async () => {
    const callUuid = await endedCall();
    const first = start();
    const second = start();
    await Promise.all([first, second].map(async (one) => one.callEnded(await h.call(callUuid))));
    await Promise.all([first.idle(), second.idle()]);
    await first.close();
    expect(await h.webhooks(callUuid)).toEqual(['call.completed', 'analysis.completed']);
  });

  it('who took it and died holds it for 10 s; then the sweep of another has it', async () => {
    const callUuid = await endedCall();
    expect(await claimJob(h.database, callUuid, h.clock.epochMs())).toMatchObject({ isOverdue: false });
    start().start();
    await runner.idle();
    h.clock.advanceMs(9_000);
    expect((await h.call(callUuid)).analysisStatus).toBe('pending');
    await settle(callUuid);
    expect(await h.webhooks(callUuid)).toEqual(['call.completed', 'analysis.completed']);
  });

  it('without media’s last word it waits 3 s for late turns', async () => {
    start().start();
    const callUuid = await talkingCall(h, { to: '+14155550777' });
    await h.transitions.apply(callUuid, { type: 'finish', reason: 'node_lost', hangupBy: 'platform' });
    await ring(callUuid);
    await runner.idle();
    expect((await h.call(callUuid)).analysisStatus).toBe('pending');
    await settle(callUuid);
    expect(await h.webhooks(callUuid)).toEqual(['call.failed', 'analysis.completed']);
    expect(await body(callUuid)).toMatchObject({ analysis: { successful: false } });
  });

  it('a call that nobody answered gets none', async () => {
    start().start();
    const callUuid = await placedCall(h, { to: '+14155550888' });
    await h.transitions.apply(callUuid, { type: 'finish', reason: 'no_answer', hangupBy: 'carrier' });
    await runner.idle();
    expect(await h.webhooks(callUuid)).toEqual(['call.no_answer']);
    expect((await h.call(callUuid)).analysisStatus).toBe('none');
  });

  it('one whose analysis was deleted while it waited tells nulls, and stays deleted', async () => {
    const callUuid = await endedCall();
    const { workspaceId } = await h.call(callUuid);
    await deleteCallParts(h.deletion, { workspaceId, callUuid, parts: ['analysis'], by: BY_OPERATOR });
    start();
    await ring(callUuid);
    await runner.idle();
    expect(await body(callUuid)).toMatchObject({ analysisStatus: 'deleted', summary: null, analysis: { model: null } });
    expect((await h.call(callUuid)).analysisStatus).toBe('deleted');
  });

  it('deleting the transcript takes the quotes along, from the entry and from the stored event', async () => {
    start();
    const lines = turnsOf([['user', 'please leave a message after the tone', 'x']]);
    const callUuid = await endedCall(lines);
    await ring(callUuid);
    await runner.idle();
    const call = await h.call(callUuid);
    expect(call.analysis?.evidence).toHaveLength(1);
    const request = { workspaceId: call.workspaceId, callUuid, by: BY_OPERATOR };
    await deleteCallParts(h.deletion, { ...request, parts: ['transcript'] });
    expect((await h.call(callUuid)).analysis).toMatchObject({ intent: 'voicemail', evidence: [] });
    expect(await body(callUuid)).toMatchObject({ transcript: null, analysis: { intent: 'voicemail', evidence: [] } });
    await deleteCallParts(h.deletion, { ...request, parts: ['analysis'] });
    expect((await h.call(callUuid)).analysis).toBeNull();
  });
});

describe('an answered call with a model', () => {
  it('has its form, its key in the header, and only quotes that were said', async () => {
    answer = () => chatAnswer(FORM);
    start();
    const callUuid = await endedCall();
    await setModel(callUuid);
    await ring(callUuid);
    await runner.idle();
    expect(await body(callUuid)).toMatchObject({
      intent: 'book_appointment',
      summary: 'The caller said yes.',
      analysis: {
        intentConfidence: 0.88,
        sentiment: 'positive',
        successful: true,
        language: 'en-GB',
        disposition: 'will come',
        evidence: [{ turnId: 't2', quote: 'yes please' }],
        model: 'm-1',
      },
    });
    expect((await h.call(callUuid)).warnings).toEqual(['analysis_evidence_dropped']);
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({
      url: 'https://llm.example/v1/chat/completions',
      headers: { authorization: 'Bearer sk-canary' },
    });
  });

  const badDays: [string, OutboundResult, string, number][] = [
    [
      'is down',
      { kind: 'failed', reason: 'the connection was refused (ECONNREFUSED)' },
      'analysis_model_unreachable',
      4,
    ],
    ['stalls', { kind: 'failed', reason: 'no answer within 30000 ms', isTimeout: true }, 'analysis_model_timeout', 2],
    ['is down, in words of its own', { kind: 'failed', reason: 'back within 5 ms' }, 'analysis_model_unreachable', 4],
    ['lies in a forbidden range', { kind: 'refused', reason: 'private' }, 'analysis_model_rejected', 1],
    ['wants another key', { ...chatAnswer(FORM), status: 401 } as OutboundResult, 'analysis_model_rejected', 1],
    ['has no such model', { ...chatAnswer(FORM), status: 404 } as OutboundResult, 'analysis_model_rejected', 1],
    ['is out of breath', { ...chatAnswer(FORM), status: 429 } as OutboundResult, 'analysis_model_rate_limited', 4],
    ['breaks', { ...chatAnswer(FORM), status: 500 } as OutboundResult, 'analysis_model_server_error', 4],
    ['answers a poem', { ...chatAnswer(FORM), body: 'Roses are red' } as OutboundResult, 'analysis_model_nonsense', 2],
    ['answers a list', chatAnswer([1, 2]), 'analysis_model_nonsense', 2],
    ['answers without a summary', chatAnswer({ intent: 'other' }), 'analysis_model_nonsense', 2],
    [
      'sends 10 MB',
      { ...chatAnswer(FORM), body: 'x'.repeat(262_144), isBodyWhole: false } as OutboundResult,
      'analysis_model_too_large',
      1,
    ],
    [
      'refuses',
      {
        ...chatAnswer(FORM),
        body: JSON.stringify({ choices: [{ message: { refusal: 'I cannot.' } }] }),
      } as OutboundResult,
      'analysis_model_refused',
      1,
    ],
  ];
  it.each(badDays)(
    'that %s: the heuristic answers, and a warning says why',
    async (_what, result, warning, questions) => {
      answer = () => result;
      start();
      const callUuid = await endedCall();
      await setModel(callUuid);
      await ring(callUuid);
      await settle(callUuid);
      expect(await body(callUuid)).toMatchObject({
        analysisStatus: 'ready',
        analysis: { model: 'parley-heuristic-1' },
      });
      expect((await h.call(callUuid)).warnings).toEqual([warning]);
      expect(asked).toHaveLength(questions);
      expect(JSON.stringify(await h.log(callUuid))).not.toContain('sk-canary');
    },
  );

  it('a server that knows no json_schema is asked in a simpler form at once, and remembered', async () => {
    const forms: unknown[] = [];
    answer = (request) => {
      const sent = JSON.parse(request.body.toString()) as { response_format?: { type: string } };
      forms.push(sent.response_format?.type ?? 'text');
      return sent.response_format?.type === 'json_schema'
        ? ({ ...chatAnswer(FORM), status: 400 } as OutboundResult)
        : chatAnswer(FORM);
    };
    start();
    for (const callUuid of [await endedCall(), await endedCall()]) {
      await setModel(callUuid).catch(() => {});
      await ring(callUuid);
      await runner.idle();
      expect((await h.call(callUuid)).analysis?.model).toBe('m-1');
    }
    expect(forms).toEqual(['json_schema', 'json_object', 'json_object']);
  });

  it('after five failures in a row it is left alone for 30 s, then asked once', async () => {
    answer = () => ({ ...chatAnswer(FORM), status: 401 }) as OutboundResult;
    start();
    const calls: string[] = [];
    for (let made = 0; made < 7; made++) calls.push(await endedCall());
    await setModel(calls[0]!);
    for (const callUuid of calls.slice(0, 6)) {
      await ring(callUuid);
      await runner.idle();
    }
    expect(asked).toHaveLength(5);
    expect(runner.openBreakers()).toBe(1);
    expect((await h.call(calls[5]!)).warnings).toEqual(['analysis_model_breaker_open']);
    h.clock.advanceMs(30_000);
    answer = () => chatAnswer(FORM);
    await ring(calls[6]!);
    await runner.idle();
    expect((await h.call(calls[6]!)).analysis?.model).toBe('m-1');
    expect(runner.openBreakers()).toBe(0);
  });

  it('a call that waited 95 s, because everything was down, is read without the model at once', async () => {
    answer = () => chatAnswer(FORM);
    const callUuid = await endedCall();
    await setModel(callUuid);
    await claimJob(h.database, callUuid, h.clock.epochMs() + 90_000);
    h.clock.advanceMs(95_000);
    start().start();
    await runner.idle();
    expect((await h.call(callUuid)).warnings).toEqual(['analysis_model_overdue']);
    expect(asked).toEqual([]);
  });
});

it('a result that cannot be stored ends as failed with nulls, after six tries', async () => {
  const callUuid = await endedCall();
  const failing = {
    ...h.database,
    transaction: ((work) =>
      h.database.transaction(async (tx) => {
        const result = await work({
          query: (sql, parameters) => {
            if (/UPDATE calls SET analysis = \$1/.test(sql) && parameters?.[0] !== null)
              throw new Error('no such text');
            return tx.query(sql, parameters);
          },
        });
        return result;
      })) as Harness['database']['transaction'],
  };
  start(failing).start();
  await settle(callUuid);
  expect(await body(callUuid)).toMatchObject({
    analysisStatus: 'failed',
    intent: null,
    summary: null,
    analysis: { model: null },
  });
  expect(await h.webhooks(callUuid)).toEqual(['call.completed', 'analysis.completed']);
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { freePort } from '../../../bench/harness/free-port.ts';
import type { ReplyStages } from '../../../media/contract/conversation.ts';
import { counter, counters, eventLoopDelayOf, gauge, histogram } from '../../../media/contract/metrics.ts';
import { LatenessHistogram } from '../../../media/io/lateness-histogram.ts';
import type { Readiness } from '../../../src/api/health-routes.ts';
import { startMetricsServer } from '../../../src/control/metrics-server.ts';
import { probe } from '../../../src/doctor/http-probe.ts';
import { type ControlMetrics, createControlMetrics } from '../../../src/metrics/control-metrics.ts';
import { databaseFamilies } from '../../../src/metrics/database-metrics.ts';
import { metricsText } from '../../../src/metrics/exposition.ts';
import { createMediaReports } from '../../../src/metrics/media-reports.ts';
import { timePlacements } from '../../../src/metrics/time-placement.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

const silent = pino({ level: 'silent' });
let metrics: ControlMetrics | undefined;
afterEach(() => metrics?.close());

describe('the text of all processes', () => {
  it('names each family once, gives each sample its process, and adds histogram buckets up', async () => {
    const media = [
      gauge('parley_a', 'An A', 2),
      counters('parley_b_total', 'Bs', 'kind', { x: 1, y: 0 }),
      histogram('parley_c_seconds', 'Cs', { bounds: [0.001, 0.01], counts: [3, 2, 1], sum: 0.05 }),
    ];
    const text = await metricsText(
      new Map([
        ['control', [gauge('parley_a', 'An A', 1)]],
        ['media-0', media],
      ]),
    );
    expect(text.match(/# TYPE parley_a gauge/g)).toHaveLength(1);
    expect(text).toContain('parley_a{process="control"} 1\n');
    expect(text).toContain('parley_a{process="media-0"} 2\n');
    expect(text).toContain('# TYPE parley_b_total counter');
    expect(text).toContain('parley_b_total{kind="y",process="media-0"} 0');
    expect(text).toContain('parley_c_seconds_bucket{le="0.001",process="media-0"} 3');
    expect(text).toContain('parley_c_seconds_bucket{le="0.01",process="media-0"} 5');
    expect(text).toContain('parley_c_seconds_bucket{le="+Inf",process="media-0"} 6');
    expect(text).toContain('parley_c_seconds_count{process="media-0"} 6');
    expect(text).toContain('parley_c_seconds_sum{process="media-0"} 0.05');
  });

  it('quotes what a label may not hold as it is', async () => {
    const text = await metricsText(new Map([['con"trol\n', [counter('parley_a_total', 'A', 1)]]]));
    expect(text).toContain('parley_a_total{process="con\\"trol\\n"} 1');
  });
});

describe('what control counts', () => {
  it('counts requests, placements, ends and webhook attempts under closed labels', async () => {
    metrics = createControlMetrics();
    metrics.requestAnswered({ method: 'GET', route: null, status: 404, errorCode: 'not_found', seconds: 0.004 });
    metrics.webhookAttempted({ outcome: 'delivered', seconds: 0.02, sinceEventSeconds: 0.3 });
    metrics.webhookAttempted({ outcome: 'retry', seconds: 3, sinceEventSeconds: null });
    const clock = new VirtualClock();
    const call = {} as never;
    const limited = { kind: 'limited', code: 'cps_limit', retryAfterSeconds: 1 } as const;
    await timePlacements(metrics, clock, async () => limited).place(call);
    const away = timePlacements(metrics, clock, () => Promise.reject(new Error('away')));
    const refused = expect(away.place(call)).rejects.toThrow('away');
    expect(away.underWay()).toBe(1);
    await refused;
    expect(away.underWay()).toBe(0);
    metrics.callEnded('no_answer', 'busy');

    const text = await metricsText(new Map([['control', await metrics.families()]]));
    expect(text).toContain(
      'parley_http_requests_total{method="GET",route="none",status="404",code="not_found",process="control"} 1',
    );
    expect(text).toContain('parley_placements_total{outcome="limited_cps_limit",process="control"} 1');
    expect(text).toContain('parley_placements_total{outcome="error",process="control"} 1');
    expect(text).toContain('parley_calls_ended_total{status="no_answer",reason="busy",process="control"} 1');
    expect(text).toContain('parley_webhook_attempts_total{outcome="retry",process="control"} 1');
    expect(text).toContain('parley_webhook_delivery_latency_seconds_count{process="control"} 1');
    expect(text).toMatch(/parley_process_resident_memory_bytes\{process="control"\} \d{7,}/);
  });

  it('counts the steps of replies by who served, and no more models than it has room for', async () => {
    metrics = createControlMetrics();
    const served = (provider: string, model: string | null) => ({ provider, connection: 'mine', model });
    const stages: ReplyStages = {
      ...{ speechEndAtMs: 5_000, decidedMs: 300, finalWordsMs: 350, askedMs: 250, firstTokenMs: 500 },
      ...{ firstClauseMs: 505, firstAudioMs: 605, ringMs: 606, firstFrameMs: 607 },
      listen: served('deepgram', 'nova-3'),
      think: served('openai', 'mini'),
      speak: served('elevenlabs', null),
    };
    metrics.replied(stages);
    const clip = { askedMs: null, firstTokenMs: null, firstClauseMs: null, firstAudioMs: null, think: null };
    metrics.replied({ ...stages, ...clip, listen: null, speak: null });
    for (let i = 0; i < 60; i++) metrics.replied({ ...stages, think: served('openai', `made-up-${i}`) });

    const text = await metricsText(new Map([['control', await metrics.families()]]));
    const sum = 'parley_reply_stage_duration_seconds_sum';
    const count = 'parley_reply_stage_duration_seconds_count';
    expect(text).toContain(`${sum}{stage="first_token",provider="openai",model="mini",process="control"} 0.25`);
    expect(text).toContain(`${count}{stage="first_audio",provider="elevenlabs",model="none",process="control"} 61`);
    expect(text).toContain(`${count}{stage="final_words",provider="deepgram",model="nova-3",process="control"} 61`);
    expect(text).toContain(`${sum}{stage="reply",provider="none",model="none",process="control"} 0.607`);
    expect(text).toMatch(/stage="reply",provider="openai",model="other"/);
    expect(text.match(/_count\{stage="reply"/g)?.length).toBeLessThanOrEqual(42);
  });

  it('takes the interval of the loop monitor off its delays, and has 0 s before the first sample', () => {
    const monitor = { percentile: (percent: number) => percent * 1e6, max: 110e6, count: 5 };
    expect(eventLoopDelayOf(monitor, 10)).toEqual({ p50: 40, p99: 89, max: 100 });
    expect(eventLoopDelayOf({ ...monitor, count: 0 }, 10)).toEqual({ p50: 0, p99: 0, max: 0 });
  });
});

describe('lateness since the start', () => {
  it('keeps 2 ticks of a closed window and 1 of the open one, 5 ms in all', () => {
    const lateness = new LatenessHistogram();
    lateness.add(0.1);
    lateness.add(3.9);
    lateness.reset();
    lateness.add(1);
    expect(lateness.total).toBe(1);
    const { counts, sumMs } = lateness.sinceStart();
    expect([...counts].reduce((sum, count) => sum + count, 0)).toBe(3);
    expect(sumMs).toBeCloseTo(5);
  });
});

describe('reports of media processes', () => {
  it('leaves a process out that has not reported for 20 s', async () => {
    const clock = new VirtualClock();
    const reports = createMediaReports(clock);
    reports.reported('media-0', [gauge('parley_a', 'A', 1)]);
    clock.advanceMs(15_000);
    reports.reported('media-1', []);
    expect([...reports.current().keys()]).toEqual(['media-0', 'media-1']);
    clock.advanceMs(6_000);
    expect([...reports.current().keys()]).toEqual(['media-1']);
  });
});

describe('what the database knows', () => {
  it('says 0 and nothing else when the queries fail, or take more than 2 s', async () => {
    const clock = new VirtualClock();
    const failing = { query: () => Promise.reject(new Error('away')) };
    expect(
      (await databaseFamilies({ database: failing, clock })).map((one) => [one.name, one.values[0]?.value]),
    ).toEqual([['parley_database_up', 0]]);
    const slow = databaseFamilies({ database: { query: () => new Promise(() => {}) }, clock });
    clock.advanceMs(2_001);
    expect((await slow).map((one) => [one.name, one.values[0]?.value])).toEqual([['parley_database_up', 0]]);
  });
});

const NOT_READY: Readiness = { status: 'unavailable', checks: { media: { ok: false, detail: 'none is connected' } } };
const PRIVATE = { host: '127.0.0.1', token: null, socketPath: null, readiness: async () => NOT_READY };

describe('the metrics port', () => {
  it('with a token gives nothing to who does not bear it, and the private socket wants none', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-operator-'));
    const port = await freePort();
    const socketPath = join(folder, 'operator.sock');
    const token = 'token-of-prometheus';
    const text = async (): Promise<string> => 'parley_a 1\n';
    const server = await startMetricsServer({ ...PRIVATE, port, token, socketPath, log: silent, text });
    const ask = async (path: string, authorization?: string): Promise<[number, string]> => {
      const answer = await fetch(
        `http://127.0.0.1:${port}${path}`,
        authorization ? { headers: { authorization } } : {},
      );
      return [answer.status, await answer.text()];
    };
    for (const wrong of [undefined, 'Bearer ', `Bearer ${token}x`, `Bearer ${token.slice(0, -1)}`, `Basic ${token}`]) {
      for (const path of ['/metrics', '/readyz', '/']) {
        const [status, body] = await ask(path, wrong);
        expect([status, body.includes('parley_a'), body.includes('media')], `${path} ${wrong}`).toEqual([
          401,
          false,
          false,
        ]);
      }
    }
    expect(await ask('/metrics', `Bearer ${token}`)).toEqual([200, 'parley_a 1\n']);
    expect(await ask('/readyz', `Bearer ${token}`)).toEqual([503, JSON.stringify(NOT_READY)]);
    expect(await probe('http://localhost/readyz', { socketPath })).toEqual({
      ok: true,
      status: 503,
      body: JSON.stringify(NOT_READY),
    });
    await server.close();
    rmSync(folder, { recursive: true });
  });

  it('serves GET /metrics and nothing else', async () => {
    const port = await freePort();
    const server = await startMetricsServer({ ...PRIVATE, port, log: silent, text: async () => 'parley_a 1\n' });
    const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
    expect([answer.status, answer.headers.get('content-type'), await answer.text()]).toEqual([
      200,
      'text/plain; version=0.0.4; charset=utf-8',
      'parley_a 1\n',
    ]);
    expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(404);
    expect((await fetch(`http://127.0.0.1:${port}/metrics`, { method: 'POST' })).status).toBe(404);
    await server.close();
  });

  it('says the setting when the port is taken, and does not fail', async () => {
    const port = await freePort();
    const lines: string[] = [];
    const log = pino({}, { write: (line: string) => void lines.push(line) });
    const text = async (): Promise<string> => '';
    const first = await startMetricsServer({ ...PRIVATE, port, log: silent, text });
    const second = await startMetricsServer({ ...PRIVATE, port, log, text });
    expect(lines.join('')).toMatch(/EADDRINUSE.*PARLEY_METRICS_PORT/);
    await second.close();
    await first.close();
  });
});

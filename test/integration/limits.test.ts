/** A limit offered three times over, on both stores: what the emulated carrier saw, and what the clients were told. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { offer } from '../../bench/api/offer.ts';
import { NO_REDIS, startOwnRedis } from '../harness/redis-server.ts';
import { startTestGateway } from '../support/test-gateway.ts';

const PER_SECOND = 4;
const AT_ONCE = 6;
const BURST = 20;
const numberOf = (index: number): string => `+1415555${String(index).padStart(4, '0')}`;
const redis = await startOwnRedis();
afterAll(() => redis?.close());

describe.each([
  ['PostgreSQL', null],
  ['Redis', redis],
] as const)('limits of 4 calls a second and 6 at once in %s', (name, server) => {
  it.skipIf(name === 'Redis' && server === null)(
    name === 'Redis' && server === null
      ? NO_REDIS
      : 'offered 20 at once and 12 a second for 6 s, are never exceeded at the carrier, and refuse as the contract says',
    async () => {
      const dataDir = mkdtempSync(join(tmpdir(), 'parley-limits-'));
      const gateway = await startTestGateway({
        dataDir,
        agent: { kind: 'tone', name: 'Tone', direction: 'outbound', toneHz: 440 },
        personas: [
          { kind: 'silent', name: 'asleep', number: '+1415*', dialMs: 20, ringMs: 3_000, outcome: 'no_answer' },
        ],
        concurrentCalls: AT_ONCE,
        callsPerSecond: PER_SECOND,
        ...(server === null ? {} : { controlEnv: { REDIS_URL: server.url } }),
        keepAudio: false,
        log: () => {},
      });
      try {
        const { agentId, enterprise, lineId } = gateway;
        const offered = (perSecond: number, seconds: number, from: number) =>
          offer({
            baseUrl: gateway.service.publicUrl,
            apiKey: gateway.apiKey,
            perSecond,
            seconds,
            body: (index) => ({ to: numberOf(from + index), agentId, enterprise, from: lineId }),
          });
        // All at once: more than a second's share comes within a second, however slow the machine.
        const burst = await offered(BURST * 1_000, 1 / 1_000, 0);
        const answers = [...burst, ...(await offered(3 * PER_SECOND, 6, BURST))];
        const calls = await gateway.emulator.calls();
        const placed = answers.filter(({ status }) => status === 200);
        expect(calls).toHaveLength(placed.length);
        // When the first were over others came in: how many, a busy machine decides.
        expect(placed.length).toBeGreaterThan(AT_ONCE);

        // Let through after it was sent and before the carrier had it: a busy machine may hold one up in between, and
        // the next not.
        const sentAt = new Map(answers.map(({ sentAtEpochMs }, index) => [numberOf(index), sentAtEpochMs]));
        const passed = calls
          .map(({ placedAtEpochMs, to }) => ({
            fromMs: sentAt.get(`+${to.replace(/^\+/, '')}`)!,
            toMs: placedAtEpochMs,
          }))
          .toSorted((left, right) => left.toMs - right.toMs);
        for (const [index, { toMs }] of passed.entries()) {
          // Those that were let through within this second for certain: it may itself have been held up for longer.
          const within = passed.slice(0, index + 1).filter(({ fromMs }) => toMs - fromMs < 1_000).length;
          expect(within, `in the second up to ${toMs}`).toBeLessThanOrEqual(PER_SECOND);
        }
        for (const { placedAtEpochMs: atMs } of calls) {
          const live = calls.filter(
            (call) => call.placedAtEpochMs <= atMs && (call.hungUpAtEpochMs === null || call.hungUpAtEpochMs > atMs),
          ).length;
          expect(live, `at ${atMs}`).toBeLessThanOrEqual(AT_ONCE);
        }

        const refused = answers.filter(({ status }) => status !== 200);
        const codes = new Set(refused.map(({ headers }) => headers['x-error-code']));
        expect([...codes].toSorted()).toEqual(['concurrency_limit', 'cps_limit']);
        for (const { status, headers, body } of refused) {
          expect(status).toBe(429);
          expect(body).toEqual({ success: false, message: 'Carrier rate limit exceeded' });
          const seconds = Number(headers['retry-after']);
          const limit = headers['x-error-code'] === 'cps_limit' ? 'cps' : 'concurrent';
          if (limit === 'cps') expect(seconds).toBe(1);
          else expect(seconds).toBeGreaterThanOrEqual(1);
          expect(seconds).toBeLessThanOrEqual(30);
          expect(headers['ratelimit-policy']).toBe('"cps";q=4;w=1, "concurrent";q=6');
          expect(headers['ratelimit']).toBe(`"${limit}";r=0;t=${seconds}`);
        }
      } finally {
        await gateway.stop();
        rmSync(dataDir, { recursive: true, force: true });
      }
    },
  );
});

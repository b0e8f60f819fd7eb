/**
 * A conversation with credentials that can be told from everything else, through the whole service, with faults that
 * make providers and their errors talk: what a pipeline thread is posted, what is logged, stored, shown and sent holds
 * none of them. What is sent to a collector of traces is looked at on the way: it tells the whole conversation.
 */
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PATIENCE_MS } from '../../bench/harness/patience.ts';
import { openPatientDatabase } from '../../bench/harness/patient-database.ts';
import { packageRoot } from '../../src/config/built-entry.ts';
import { readRuntimeFile } from '../../src/config/operator-settings.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';
import { settingsOn } from '../support/test-gateway.ts';
import { LINES, numberOf } from './cascade/conversation.ts';
import { type Conversations, startConversations } from './cascade/conversations.ts';
import { strike } from './cascade/turn-faults.ts';

const CANARY = 'canary7f3a9d';
const KEYS = { key: `sk-${CANARY}-primary-0123456789`, backupKey: `sk-${CANARY}-backup-0123456789` };
/** A busy machine may be too slow for each stream that the carrier tries: nothing is said then. */
const CALLS_AT_MOST = 5;
/** Who waits less for a busy machine's answer talks into it, and the question behind it is never asked. */
const PATIENT = { afterMs: 2_500, patienceMs: 40_000 };
const folder = mkdtempSync(join(tmpdir(), 'parley-canaries-'));
const notes = join(folder, 'notes');
const before = { ...process.env };
let stored: TestDatabase;
let world: Conversations;
let output = '';
const collector = createServer((request, response) => {
  void text(request).then((body) => {
    traces.push(body);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
});
const traces: string[] = [];

beforeAll(async () => {
  await once(collector.listen(0, '127.0.0.1'), 'listening');
  const { port } = collector.address() as AddressInfo;
  const preload = pathToFileURL(join(packageRoot(), 'test', 'fault', 'nemesis', 'message-watch-preload.mjs'));
  Object.assign(process.env, { NODE_OPTIONS: `--import ${preload.href}`, WATCHED_TEXT: CANARY, WATCH_NOTES: notes });
  stored = await createTestDatabase();
  world = await startConversations({
    lines: [LINES, LINES],
    atOnce: 2,
    patience: PATIENT,
    settings: { PARLEY_LOG_LEVEL: 'debug', ...settingsOn(stored) },
    controlEnv: { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` },
    keys: KEYS,
    output: (text) => {
      output += text;
    },
  });
});

afterAll(async () => {
  for (const name of ['NODE_OPTIONS', 'WATCHED_TEXT', 'WATCH_NOTES']) {
    if (before[name] === undefined) delete process.env[name];
    else process.env[name] = before[name];
  }
  await world?.close();
  await stored?.close();
  collector.closeAllConnections();
  collector.close();
  rmSync(folder, { recursive: true, force: true });
});

test('no credential in messages to pipelines, logs, events, the call log, checkpoints, webhooks, metrics, traces', async () => {
  const { gateway, providers, tool } = world;
  const { agentId, enterprise, lineId: from, client } = gateway;
  // Refusals quote what they refuse.
  let said = 0;
  gateway.emulator.onEvent((event) => {
    if (event.event !== 'said') return;
    said++;
    if (said === 2) void strike({ part: 'model', kind: 'revoked_key', chance: 0 }, providers, tool);
    if (said === 3) void strike({ part: 'voice', kind: 'garbage', chance: 0 }, providers, tool);
    if (said === 5) void strike({ part: 'voice', kind: 'revoked_key', chance: 0 }, providers, tool);
  });
  const callUuids: string[] = [];
  for (const call of [0, 1]) {
    for (let left = CALLS_AT_MOST; ; left--) {
      const { body } = await client.place({ to: numberOf(call), agentId, enterprise, from, name: 'Dana' });
      const entry = await client.waitFor(body.callUuid!, 'its end', ({ endedAt }) => endedAt !== null);
      await gateway.receiver.waitFor(({ callUuid }) => callUuid === body.callUuid);
      expect(JSON.stringify(entry)).not.toContain(CANARY);
      const hadStream = (await gateway.emulator.calls()).at(-1)!.streams.length > 0;
      if (!hadStream && left > 1) continue;
      expect(entry.turns.length).toBeGreaterThan(2);
      callUuids.push(body.callUuid!);
      break;
    }
  }

  const posted = readFileSync(notes, 'utf8').trim().split('\n');
  // The watch sees: the I/O thread hands grants to provider threads.
  expect(posted.some((line) => /^main > provider-/.test(line))).toBe(true);
  expect(posted.filter((line) => !/^main > provider-/.test(line))).toEqual([]);

  expect(output.length).toBeGreaterThan(1_000);
  expect(output).not.toContain(CANARY);
  expect(JSON.stringify(gateway.receiver.received())).not.toContain(CANARY);

  for (const callUuid of callUuids)
    await expect.poll(() => spansOf(callUuid), { timeout: PATIENCE_MS }).not.toEqual([]);
  expect(traces.join()).not.toContain(CANARY);
  const spans = spansOf(callUuids[0]!);
  const called = (name: string) => spans.filter((span) => span.name.split(' ')[0] === name);
  const turns = spans.filter(({ name }) => name.startsWith('turn '));
  expect(new Set(turns.map(({ name }) => name))).toEqual(new Set(['turn agent', 'turn user']));
  expect(called('invoke_agent')).toHaveLength(1);
  expect(called('chat').length).toBeGreaterThan(LINES.length - 1);
  expect(called('execute_tool').map(({ name }) => name)).toContain('execute_tool check_table');
  const ids = new Set(spans.map(({ spanId }) => spanId));
  expect(spans.filter(({ parentSpanId }) => parentSpanId !== undefined && !ids.has(parentSpanId))).toEqual([]);

  const metrics = await metricsOf(world.dataDir);
  expect(metrics).toContain('parley_');
  expect(metrics).not.toContain(CANARY);

  const database = openPatientDatabase(gateway.service.databaseUrl);
  try {
    const tables = await database.query<{ name: string }>(
      `SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = current_schema()`,
    );
    expect(tables.length).toBeGreaterThan(20);
    for (const { name } of tables) {
      const found = await database.query(`SELECT 1 FROM ${name} row WHERE row::text LIKE '%${CANARY}%' LIMIT 1`);
      expect([name, found.length]).toEqual([name, 0]);
    }
  } finally {
    await database.close();
  }
});

interface SentSpan {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
}

/** Those of the call's own trace, as the collector got them. */
function spansOf(callUuid: string): SentSpan[] {
  const sent = traces.flatMap((body) => {
    const { resourceSpans } = JSON.parse(body) as { resourceSpans: { scopeSpans: { spans: SentSpan[] }[] }[] };
    return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
  });
  const ofCall = sent.find((span) => span.name.startsWith('invoke_agent') && JSON.stringify(span).includes(callUuid));
  return sent.filter(({ traceId }) => traceId === ofCall?.traceId);
}

/** As the operator's socket shows them. */
function metricsOf(dataDir: string): Promise<string> {
  const { runDir = '' } = readRuntimeFile(join(dataDir, 'runtime.json'));
  return new Promise((resolve, reject) => {
    request({ socketPath: join(runDir, 'operator.sock'), path: '/metrics' }, (response) => {
      text(response).then(resolve, reject);
    })
      .on('error', reject)
      .end();
  });
}

/** The exporter against a collector that reads what it is sent, or does not. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { CallFacts } from '../../../src/tracing/call-spans.ts';
import { createTraceExporter, type TraceExporter } from '../../../src/tracing/trace-exporter.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { STREAM_AT, sampleCall } from './sample-call.ts';

interface Received {
  path: string;
  key: string | undefined;
  body: OtlpBody;
}
interface OtlpAttribute {
  key: string;
  value: { stringValue?: string; intValue?: string; boolValue?: boolean };
}
interface OtlpBody {
  resourceSpans: {
    resource: { attributes: OtlpAttribute[] };
    scopeSpans: { spans: Record<string, never>[] }[];
  }[];
}

let collector: Server;
let received: Received[];
let answers: number[];
let exporter: TraceExporter;
let logged: string[];
const clock = new VirtualClock();

beforeEach(async () => {
  [received, answers, logged] = [[], [], []];
  collector = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const body = JSON.parse(Buffer.concat(pieces).toString('utf8')) as OtlpBody;
    received.push({ path: request.url!, key: request.headers['api-key'] as string | undefined, body });
    response.writeHead(answers.shift() ?? 200, { 'content-type': 'application/json' }).end('{"partialSuccess":{}}');
  }).listen(0, '127.0.0.1');
  await once(collector, 'listening');
});
afterEach(async () => {
  await exporter.close();
  collector.closeAllConnections();
  collector.close();
});

function exporting(read: (callUuid: string) => CallFacts | undefined = () => sampleCall()): void {
  const url = `http://127.0.0.1:${(collector.address() as AddressInfo).port}/v1/traces`;
  exporter = createTraceExporter({
    settings: { url, headers: { 'api-key': 'secret' }, serviceName: 'calls', withContent: false },
    version: '1.2.3',
    clock,
    log: pino({ level: 'warn' }, { write: (line: string) => void logged.push(line) }),
    read: async (callUuid) => read(callUuid),
  });
}

const figure = (name: string): number =>
  exporter.families().find((family) => family.name === `parley_traces_${name}`)!.values[0]!.value;

/** Virtual time goes on until it is so. */
async function until(done: () => boolean): Promise<void> {
  for (let turns = 0; !done(); turns++) {
    if (turns > 20_000) throw new Error('it never came to that');
    clock.advanceMs(10);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test('a call that is over reaches the collector as OTLP, once, with the key of the operator', async () => {
  exporting();
  exporter.callEnded('call-1');
  expect(received).toEqual([]);
  await until(() => figure('sent_total') === 1);
  expect(received).toMatchObject([{ path: '/v1/traces', key: 'secret' }]);
  const [{ resource, scopeSpans }] = received[0]!.body.resourceSpans as [OtlpBody['resourceSpans'][0]];
  expect(resource.attributes).toContainEqual({ key: 'service.name', value: { stringValue: 'calls' } });
  const chat = scopeSpans[0]!.spans.findLast(({ name }) => name === 'chat mini') as unknown as {
    startTimeUnixNano: string;
    endTimeUnixNano: string;
    kind: number;
    attributes: OtlpAttribute[];
  };
  expect(chat).toMatchObject({
    kind: 3,
    startTimeUnixNano: `${STREAM_AT + 2_210}000000`,
    endTimeUnixNano: `${STREAM_AT + 2_910}000000`,
  });
  expect(chat.attributes).toContainEqual({ key: 'gen_ai.usage.output_tokens', value: { intValue: '20' } });
  expect(chat.attributes.map(({ key }) => key)).not.toContain('error.type');
  const tool = scopeSpans[0]!.spans.find(({ name }) => name === 'execute_tool lookup_order');
  expect(tool).toMatchObject({ status: { code: 2, message: 'timeout' } });
});

test('a collector that is away for a while gets it later; one that stays away costs a count and one line', async () => {
  exporting();
  answers.push(503, 429);
  exporter.callEnded('call-1');
  await until(() => figure('sent_total') === 1);
  expect(received).toHaveLength(3);
  collector.closeAllConnections();
  collector.close();
  exporter.callEnded('call-2');
  exporter.callEnded('call-3');
  await until(() => figure('dropped_total') === 2);
  expect(logged).toHaveLength(1);
  expect(logged[0]).not.toContain('secret');
});

test('what it refuses is not sent again', async () => {
  exporting();
  answers.push(400);
  exporter.callEnded('call-1');
  await until(() => figure('dropped_total') === 1);
  expect(received).toHaveLength(1);
});

test('no more than a thousand calls wait', () => {
  exporting();
  for (let call = 0; call < 1_200; call++) exporter.callEnded(`call-${call}`);
  expect(figure('waiting')).toBe(1_000);
  expect(figure('dropped_total')).toBe(200);
});

test('a call that is gone, or cannot be read, holds up nobody', async () => {
  exporting((callUuid) => {
    if (callUuid === 'broken') throw new Error('the database is away');
    return callUuid === 'gone' ? undefined : sampleCall();
  });
  for (const callUuid of ['gone', 'broken', 'call-1']) exporter.callEnded(callUuid);
  await until(() => figure('sent_total') === 1);
  expect(figure('dropped_total')).toBe(1);
  expect(received).toHaveLength(1);
});

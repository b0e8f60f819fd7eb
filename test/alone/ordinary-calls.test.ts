/**
 * Ordinary calls through the real service, on one gateway one after the other: each part in `ordinary-calls/` says what
 * it is about. The quiet ones come first: what has a hundred calls comes last.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { bookingAgent, startBookingEndpoint } from '../../bench/demo/booking/booking-agent.ts';
import type { ToolEndpoint } from '../../bench/demo/tool-endpoint.ts';
import type { Gateway } from '../../bench/harness/gateway.ts';
import { startTestGateway } from '../support/test-gateway.ts';
import { clipsCallee, testClips } from './ordinary-calls/clips.ts';
import { demoCallees, describeFirstCall, patientAgent } from './ordinary-calls/first-call.ts';
import { crowd, testManyCalls } from './ordinary-calls/many-calls.ts';
import { listener, testOperatorControl } from './ordinary-calls/operator-control.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'parley-ordinary-'));
let gateway: Gateway;
let booking: ToolEndpoint;

beforeAll(async () => {
  booking = await startBookingEndpoint();
  gateway = await startTestGateway({
    dataDir,
    agent: bookingAgent(patientAgent, booking.url),
    personas: [...demoCallees, clipsCallee, listener, ...crowd],
    concurrentCalls: 200,
    callsPerSecond: 200,
    log: () => {},
  });
  booking.setSecret(gateway.webhookSecret);
});

afterAll(async () => {
  await gateway.stop();
  booking.close();
  rmSync(dataDir, { recursive: true, force: true });
});

describeFirstCall(() => ({ gateway, booking }));
testClips(() => gateway);
testOperatorControl(() => ({ gateway, dataDir }));
testManyCalls(() => gateway);

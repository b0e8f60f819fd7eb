/** Lines and grants: who may use what, for how long, and what becomes of a line whose service fails. */
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { afterEach, expect, test } from 'vitest';
import type { ProviderFault } from '../../../../../media/contract/model.ts';
import { ProviderLines } from '../../../../../media/engines/provider/provider-lines.ts';
import type { LineHandler, ServiceKind, ServiceLine } from '../../../../../media/engines/provider/provider-service.ts';
import { VirtualClock } from '../../../../support/virtual-clock.ts';
import { grantOf, type ProviderHarness, providerHarness } from '../provider-harness.ts';

const closed: string[] = [];
let loads = 0;
/** Says back what it hears, with whose it is. */
const ECHO: ServiceKind = {
  name: 'echo',
  isRequest: true,
  providers: ['openai_compatible'],
  load: () => {
    loads++;
    return Promise.resolve(() => (line: ServiceLine, body: unknown): LineHandler => {
      if (body === 'throw') throw new Error('no such thing');
      line.say(`${line.callUuid} ${line.grant.name} ${body}`);
      return {
        heard(said) {
          if (said === 'throw') throw new Error('broken');
          if (said === 'end') line.end();
          else if (said === 'fail') line.end('failed', 'the provider is down');
          else if (said === 'use') line.used('echo-1', [{ unit: 'output_tokens', quantity: 60, speculative: false }]);
          else line.say(`heard ${said}`);
        },
        closed: () => closed.push(line.callUuid),
      };
    });
  },
};

let harness: ProviderHarness;
let clock: VirtualClock;
afterEach(() => {
  harness.close();
  closed.length = 0;
});

function open(lines: ProviderLines, callUuid = 'call-1', body: unknown = 'hi', connection = 'main') {
  const said: unknown[] = [];
  let tellOver = (_over: [ProviderFault | null, string]): void => {};
  const over = new Promise<[ProviderFault | null, string]>((resolve) => {
    tellOver = resolve;
  });
  const line = lines.open({ callUuid, connection, settings: {} }, body, {
    said: (one) => said.push(one),
    over: (fault, message) => tellOver([fault, message]),
  });
  return { line, said, over };
}

const settledLater = (): Promise<undefined> => new Promise((done) => setTimeout(() => done(undefined), 10));

const until = async (isTrue: () => boolean): Promise<void> => {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 1));
};

function echoLines(): ProviderLines {
  clock = new VirtualClock();
  harness = providerHarness({ services: [ECHO], clock });
  const port = harness.connect();
  return new ProviderLines(() => port, 'echo');
}

test('what lines say in one go of the thread is one message, in order', async () => {
  harness = providerHarness({ services: [ECHO] });
  const port = harness.connect();
  const posted: number[] = [];
  const post = port.postMessage.bind(port);
  port.postMessage = ((messages: readonly unknown[], transfer: []) => {
    posted.push(messages.length);
    post(messages, transfer);
  }) as typeof port.postMessage;
  const lines = new ProviderLines(() => port, 'echo');
  harness.grant('call-1', grantOf());
  const [one, two] = [open(lines), open(lines)];
  for (const word of ['a', 'b']) for (const { line } of [one, two]) line.say(word);
  await until(() => one.said.length + two.said.length === 6);
  expect([one.said, two.said]).toEqual([
    ['call-1 main hi', 'heard a', 'heard b'],
    ['call-1 main hi', 'heard a', 'heard b'],
  ]);
  expect(posted).toEqual([6]);
  for (const { line } of [one, two]) line.close();
  await until(() => closed.length === 2);
});

test('a line is served with its call’s grant, both ways, until either ends it', async () => {
  loads = 0;
  const lines = echoLines();
  harness.grant('call-1', grantOf());
  const one = open(lines);
  one.line.say('a');
  await until(() => one.said.length === 2);
  expect(one.said).toEqual(['call-1 main hi', 'heard a']);
  one.line.say('end');
  expect(await one.over).toEqual([null, '']);
  const two = open(lines);
  await until(() => two.said.length === 1);
  two.line.close();
  await until(() => closed.length === 1);
  expect(loads).toBe(1);
});

test('a line that comes before its grant waits for it; one that never gets one is refused', async () => {
  const lines = echoLines();
  const early = open(lines);
  await until(() => clock.pendingTimers === 1);
  clock.advanceMs(999);
  await settledLater();
  expect(early.said).toEqual([]);
  harness.grant('call-1', grantOf());
  await until(() => early.said.length === 1);
  const never = open(lines, 'call-2');
  await until(() => clock.pendingTimers === 1);
  clock.advanceMs(1_000);
  expect(await never.over).toEqual(['no_connection', "the call has no connection 'main'"]);
  expect((await open(lines, 'call-1', 'hi', 'other').over)[0]).toBe('no_connection');
});

test('what is revoked ends, of its call alone', async () => {
  const lines = echoLines();
  harness.grant('call-1', grantOf());
  harness.grant('call-2', grantOf());
  const all = [open(lines), open(lines, 'call-2')] as const;
  await until(() => all.every(({ said }) => said.length === 1));
  // Of the test before.
  closed.length = 0;
  harness.desk.told({ type: 'revoke', callUuid: 'call-1' });
  expect(await all[0].over).toEqual(['no_connection', 'the call is over']);
  expect(closed).toEqual(['call-1']);
  all[1].line.say('still');
  await until(() => all[1].said.length === 2);
  const late = open(lines);
  await until(() => clock.pendingTimers === 1);
  clock.advanceMs(1_000);
  expect((await late.over)[0]).toBe('no_connection');
});

test('a service that throws costs its own line', async () => {
  const lines = echoLines();
  harness.grant('call-1', grantOf());
  const well = open(lines);
  const ill = open(lines);
  ill.line.say('throw');
  expect(await ill.over).toEqual(['failed', 'a fault of ours']);
  expect((await open(lines, 'call-1', 'throw').over)[0]).toBe('failed');
  well.line.say('a');
  await until(() => well.said.length === 2);
});

test('limits of a connection hold, and another provider’s connection is refused', async () => {
  const lines = echoLines();
  harness.grant('call-1', grantOf({ limits: { concurrent: 1, requestsPerMinute: 3 } }));
  harness.grant('call-2', grantOf({ provider: 'deepgram' }));
  const first = open(lines);
  await until(() => first.said.length === 1);
  expect(await open(lines).over).toEqual(['throttled', "the connection's limit of 1 at once is reached"]);
  for (let i = 0; i < 2; i++) {
    const next = i === 0 ? first : open(lines);
    await until(() => next.said.length > 0);
    next.line.say('end');
    await next.over;
  }
  const last = open(lines);
  await until(() => last.said.length === 1);
  last.line.say('end');
  await last.over;
  expect(await open(lines).over).toEqual(['throttled', "the connection's limit of 3 requests a minute is reached"]);
  expect((await open(lines, 'call-2').over)[0]).toBe('refused');
});

test('a request of which nothing had come when its thread died is put to the successor, others end', async () => {
  harness = providerHarness({ services: [ECHO] });
  harness.grant('call-1', grantOf());
  const clock = new VirtualClock();
  const dead = new MessageChannel();
  let port: MessagePort = dead.port2;
  const lines = new ProviderLines(() => port, 'echo', clock);
  const heard: string[] = [];
  const tell = (name: string) => ({
    said: (one: unknown) => void heard.push(`${name}: ${one}`),
    over: (fault: ProviderFault | null) => void heard.push(`${name}: over, ${fault}`),
  });
  const use = { callUuid: 'call-1', connection: 'main', settings: {} };
  lines.request(use, 'hi', tell('request'));
  lines.open(use, 'hi', tell('line'));
  dead.port1.close();
  await until(() => heard.length > 0);
  expect(heard).toEqual(['line: over, failed']);
  for (let waitedMs = 0; waitedMs < 1_000; waitedMs += 100) {
    clock.advanceMs(100);
    await settledLater();
  }
  expect(heard).toHaveLength(1);
  port = harness.connect();
  clock.advanceMs(100);
  await until(() => heard.length > 1);
  expect(heard[1]).toBe('request: call-1 main hi');
});

test('a request for which no successor comes has failed', async () => {
  const clock = new VirtualClock();
  const dead = new MessageChannel();
  const lines = new ProviderLines(() => dead.port2, 'echo', clock);
  const overs: unknown[] = [];
  lines.request({ callUuid: 'call-1', connection: 'main', settings: {} }, 'hi', {
    said() {},
    over: (fault) => void overs.push(fault),
  });
  dead.port1.close();
  // The death is heard of, and the successor looked for from now on.
  await until(() => clock.pendingTimers === 1);
  for (let waitedMs = 0; waitedMs < 2_400; waitedMs += 100) {
    await settledLater();
    clock.advanceMs(100);
  }
  expect(overs).toEqual([]);
  for (let waitedMs = 0; waitedMs < 400; waitedMs += 100) {
    await settledLater();
    clock.advanceMs(100);
  }
  expect(overs).toEqual(['failed']);
});

test('when the pipeline’s end of the port is gone its lines are let go', async () => {
  harness = providerHarness({ services: [ECHO] });
  const port = harness.connect();
  harness.grant('call-1', grantOf());
  const one = open(new ProviderLines(() => port, 'echo'));
  await until(() => one.said.length === 1);
  port.close();
  await until(() => closed.length === 1);
});

test('tokens that a connection’s requests used in a minute are held to its limit', async () => {
  const lines = echoLines();
  harness.grant('call-1', grantOf({ limits: { tokensPerMinute: 100 } }));
  const first = open(lines);
  for (let i = 0; i < 2; i++) {
    expect((await Promise.race([open(lines).over, settledLater()]))?.[0]).toBeUndefined();
    first.line.say('use');
  }
  await until(() => harness.told.filter(({ type }) => type === 'usage').length === 2);
  expect(await open(lines).over).toEqual(['throttled', "the connection's limit of 100 tokens a minute is reached"]);
});

test('a connection that failed for others four times in a row fails at once, once for each call', async () => {
  const lines = echoLines();
  for (const call of ['call-1', 'call-2']) harness.grant(call, grantOf());
  for (let i = 0; i < 4; i++) {
    const one = open(lines);
    await until(() => one.said.length > 0);
    one.line.say('fail');
    expect(await one.over).toEqual(['failed', 'the provider is down']);
  }
  const [fault, why] = await open(lines, 'call-2').over;
  expect([fault, why]).toEqual(['failed', expect.stringContaining('left alone')]);
  const again = open(lines, 'call-2');
  await until(() => again.said.length > 0);
  again.line.say('end');
  await again.over;
  const next = open(lines);
  await until(() => next.said.length > 0);
});

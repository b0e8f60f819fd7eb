/**
 * Web sessions on the real service: a visitor with a voice speaks to the scripted agent through `/ws/live`, is heard by
 * the recogniser, interrupts, is cut off, comes back, and outlives the media process. The client is
 * `bench/live-client`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Gateway } from '../../bench/harness/gateway.ts';
import { PATIENCE_MS } from '../../bench/harness/patience.ts';
import { type LiveAudio, LiveClient, type LiveClientOptions } from '../../bench/live-client/live-client.ts';
import { loadVisitorVoice, type VisitorVoice } from '../../bench/live-client/visitor-voice.ts';
import { makeWebAccess, type WebAccess } from '../../bench/live-client/web-access.ts';
import { BRIDGE } from '../../media/contract/agent.ts';
import type { ScriptedAgent } from '../../media/contract/agent-definition.ts';
import { FILLERS } from '../../media/contract/tools.ts';
import { eventually } from '../support/eventually.ts';
import { decodeRecording } from '../support/recording-audio.ts';
import { startTestGateway } from '../support/test-gateway.ts';

const ORIGIN = 'https://shop.example.com';
const ASKED_AGAIN = 'Sorry, please say that again.';
const STILL_THERE = 'Are you there?';
const agent: ScriptedAgent = {
  kind: 'scripted',
  name: 'Table desk',
  direction: 'web',
  language: 'en-US',
  voice: 'rms',
  script: 'Book a table.',
  greeting: 'Hello {{customer_name}}.',
  steps: [
    {
      id: 'ask',
      say: 'Do you want a table?',
      expect: 'yesno',
      replies: [
        { intent: 'yes', phrases: ['yes', 'yes please'], goto: 'long' },
        { intent: 'no', phrases: ['no', 'no thank you'], goto: 'bye' },
      ],
    },
    {
      id: 'long',
      say: 'Very well. We open at six in the evening, and parking is free on both sides of the street.',
      expect: 'none',
      goto: 'more',
    },
    {
      id: 'more',
      say: 'Anything else?',
      expect: 'yesno',
      replies: [
        { intent: 'nothing', phrases: ['no', 'no thank you', 'nothing'], goto: 'bye' },
        { intent: 'again', phrases: ['yes'], goto: 'long' },
      ],
    },
    { id: 'bye', say: 'Thank you and goodbye.', end: { reason: 'agent_hangup' } },
  ],
  fallback: { say: [ASKED_AGAIN], after: 4, goto: 'bye' },
  // Nobody is asked whether he is there while a busy machine makes up its mind.
  idle: { promptAfterMs: 60_000, say: [STILL_THERE], endAfterMs: 120_000 },
};

/** Asks for an order, and then meets every bad endpoint in one go. */
const ordersAgent = (base: string): ScriptedAgent => {
  const said = (id: string, say: string, goto: string) => ({ id, say, expect: 'none' as const, goto });
  const used = (id: string, name: string, goto: string, onError: string) => ({ id, tool: { name, goto, onError } });
  return {
    ...agent,
    name: 'Order desk',
    greeting: 'Hello.',
    steps: [
      {
        id: 'ask',
        say: 'Which order?',
        expect: 'digits',
        replies: [{ intent: 'order', phrases: ['<digits>'], set: { order: '$digits' }, goto: 'find' }],
      },
      {
        id: 'find',
        tool: { name: 'find', arguments: { order: '{{order}}' }, saying: 'Let me see.', goto: 'found', onError: 'bye' },
      },
      said('found', 'Order {{order}} comes on {{day}}.', 'slow'),
      used('slow', 'slow', 'bye', 'slow_failed'),
      said('slow_failed', 'It does not answer.', 'private'),
      used('private', 'private', 'bye', 'private_failed'),
      said('private_failed', 'It is not allowed.', 'moved'),
      used('moved', 'moved', 'bye', 'moved_failed'),
      said('moved_failed', 'It has moved.', 'page'),
      used('page', 'page', 'page_told', 'bye'),
      said('page_told', 'You look at {{tool.page.result.title}}.', 'bye'),
      { id: 'bye', say: 'Goodbye.', end: { reason: 'agent_hangup' } },
    ],
    tools: [
      { name: 'find', url: `${base}/find`, responseVariables: { day: '$.day' } },
      { name: 'slow', url: `${base}/slow`, timeoutMs: 2_500, speakDuring: ['One moment.'] },
      { name: 'private', url: 'https://10.1.2.3/orders' },
      { name: 'moved', url: `${base}/moved` },
      { kind: 'client', name: 'page' },
    ],
  };
};

let gateway: Gateway;
let orders: WebAccess;
let endpoint: Server;
const asked: string[] = [];
let web: WebAccess;
let voice: VisitorVoice;
const dataDir = mkdtempSync(join(tmpdir(), 'parley-live-'));

beforeAll(async () => {
  gateway = await startTestGateway({ dataDir, agent, personas: [], log: () => {} });
  const { service, enterprise } = gateway;
  web = await makeWebAccess(
    { baseUrl: service.publicUrl, databaseUrl: service.databaseUrl, enterprise },
    agent,
    ORIGIN,
  );
  endpoint = createServer((request, response) => {
    asked.push(request.url ?? '');
    if (request.url === '/find') response.end('{"day":"Thursday"}');
    else if (request.url === '/moved') response.writeHead(307, { location: '/elsewhere' }).end();
  });
  await new Promise<void>((done) => endpoint.listen(0, '127.0.0.1', done));
  const base = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}`;
  orders = await makeWebAccess(
    { baseUrl: service.publicUrl, databaseUrl: service.databaseUrl, enterprise },
    ordersAgent(base),
    ORIGIN,
  );
  voice = await loadVisitorVoice();
});

afterAll(async () => {
  await gateway.stop();
  endpoint.closeAllConnections();
  endpoint.close();
  rmSync(dataDir, { recursive: true, force: true });
});

/** In all of the file: a start that goes missing now and then is no slow machine. */
const MOST_STANDSTILLS = 2;
let standstills = 0;

/** Again where a process stood still for the seconds that a socket may be without its start. */
async function connect(change: Partial<LiveClientOptions> = {}, access = web): Promise<LiveClient> {
  for (;;) {
    const token = await access.token();
    const client = new LiveClient({ baseUrl: gateway.service.publicUrl, parentOrigin: ORIGIN, ...change, token });
    const ready = client.waitForType('session.ready').then(() => true);
    if (await Promise.race([ready, client.closed.then(() => false)])) {
      client.begin();
      return client;
    }
    const codes = client.messages.map(({ type, code }) => code ?? type);
    if (!codes.includes('start_timeout') || ++standstills > MOST_STANDSTILLS)
      throw new Error(`closed with ${client.closeCode} after ${codes.join(' ')}`);
  }
}

/**
 * The agent's turn with this part, which is one word or so: a sentence that the visitor missed
 * a part of goes on in another turn.
 */
const said = (client: LiveClient, part: string) =>
  client.waitFor(
    `the agent to have said "${part}"`,
    ({ type, role, text, final }) => type === 'transcript' && role === 'agent' && final === true && text.includes(part),
  );

/** Says it, and once more whenever the agent asks for it: a page without time for its microphone is not understood. */
async function answer(client: LiveClient, words: string, agentSays: string): Promise<void> {
  const told = (part: string) => client.transcript.filter((line) => line.startsWith('agent: ') && line.includes(part));
  while (told(agentSays).length === 0) {
    const misses = told(ASKED_AGAIN).length;
    client.say(await voice(words, client.micRateHz));
    await eventually(`"${agentSays}"`, () => told(agentSays).length > 0 || told(ASKED_AGAIN).length > misses, {
      story: () => client.transcript.join(' | '),
    });
  }
}

const loudness = (chunks: readonly Int16Array[]): number => {
  let sum = 0;
  let samples = 0;
  for (const chunk of chunks) {
    for (const sample of chunk) sum += sample * sample;
    samples += chunk.length;
  }
  return samples === 0 ? 0 : Math.sqrt(sum / samples);
};

/**
 * Whoever waits for a late recogniser hears "One moment.", or the beginning of it: a busy machine says it where an idle
 * one does not.
 */
const withoutWaiting = (lines: readonly string[]): string[] =>
  lines.filter((line) => !(line.startsWith('agent: ') && 'One moment.'.startsWith(line.slice('agent: '.length))));

/** What the agent says where it lost what the visitor said: as words that fit nothing, or as a wish to wait. */
const isAboutLostWords = (line = '') => line.includes(ASKED_AGAIN) || line.includes(STILL_THERE);

/** Without what had to be said again, and the asking for it. */
const understood = (lines: readonly string[]): string[] =>
  lines.filter((line, at) => {
    const wasLost = line.startsWith('user: ') && isAboutLostWords(lines[at + 1]);
    return !wasLost && !isAboutLostWords(line);
  });

/**
 * Each speaker's words in one piece. A visitor's page that a busy machine gave no time was lost for a moment and was
 * told so, or was asked to say something again: where that stands is the machine's affair, that
 * nothing is missing is not.
 */
function turnAbout(lines: readonly string[]): string[] {
  const joined: string[] = [];
  for (const line of lines) {
    const [who, words] = [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)];
    if (joined.at(-1)?.startsWith(`${who}: `)) joined.push(`${joined.pop()} ${words}`);
    else joined.push(line);
  }
  return joined;
}

/**
 * Each speaker's words in one piece. A busy machine's agent bridges a wait, or a move to another thread, behind which
 * it goes on in its sentence or says it anew.
 */
function withoutBridges(lines: readonly string[]): string[] {
  const bridges = [BRIDGE, ...FILLERS];
  const own = lines.filter((line) => !bridges.some((bridge) => line === `agent: ${bridge}`));
  return turnAbout(own.filter((line, at) => line !== own[at - 1])).map((line) => {
    let text = line;
    // One may stand in another.
    while (bridges.some((bridge) => text.includes(bridge))) text = bridges.reduce(withoutBridge, text);
    return text;
  });
}

function withoutBridge(text: string, bridge: string): string {
  return text.split(bridge).reduce((before, after) => {
    const cut = /[^.?!]*$/.exec(before)![0].trim();
    const isSaidAnew = cut !== '' && after.trim().startsWith(cut);
    return `${isSaidAnew ? before.slice(0, before.lastIndexOf(cut)).trim() : before.trim()} ${after.trim()}`;
  });
}

describe.concurrent.each<[string, LiveAudio, LiveAudio]>([
  [
    'PCM 16 kHz in, PCM 24 kHz out',
    { codec: 'pcm_s16le', sampleRate: 16000 },
    { codec: 'pcm_s16le', sampleRate: 24000 },
  ],
  ['Opus both ways', { codec: 'opus', sampleRate: 48000 }, { codec: 'opus', sampleRate: 48000 }],
  ['PCM 48 kHz in, mu-law out', { codec: 'pcm_s16le', sampleRate: 48000 }, { codec: 'mulaw', sampleRate: 8000 }],
])('a conversation in %s', (_name, input, output) => {
  test('is heard, answered, ended by the agent in whole sentences, and logged like a call', async () => {
    const client = await connect({ input, output, start: { name: 'Asha', metadata: { page: '/tables' } } });
    const { callUuid } = await client.waitForType('session.ready');
    await said(client, 'table?');
    await answer(client, 'yes please', 'street.');
    await said(client, 'else?');
    await answer(client, 'no thank you', 'goodbye.');
    const ended = await client.waitForType('session.ended');
    expect(await client.closed).toBe(1000);
    expect(ended).toMatchObject({ reason: 'agent_hangup', callUuid });
    const lines = withoutWaiting(client.transcript);
    const wasDisturbed = lines.some((line) => line.includes(BRIDGE) || isAboutLostWords(line));
    if (wasDisturbed) {
      expect(turnAbout(understood(lines))).toEqual([
        expect.stringMatching(/^agent: Hello.*table\?/),
        // "please" that comes a second later is heard for itself.
        expect.stringMatching(/^user: (\[unclear\] )?yes( please)?$/),
        expect.stringMatching(/^agent: .*six in the evening.*street\..*else\?/),
        expect.stringMatching(/^user: (\[unclear\] )?no thank you$/),
        expect.stringMatching(/^agent: .*goodbye\.$/),
      ]);
    } else {
      expect(lines).toEqual([
        'agent: Hello Asha.',
        'agent: Do you want a table?',
        'user: yes please',
        expect.stringMatching(/^agent: Very well\..*both sides of the street\.$/),
        'agent: Anything else?',
        'user: no thank you',
        'agent: Thank you and goodbye.',
      ]);
    }
    expect(loudness(client.played)).toBeGreaterThan(300);
    const deltas = client.messages.filter(({ type, delta }) => type === 'transcript' && typeof delta === 'string');
    expect(deltas.length).toBeGreaterThan(10);
    const latencies = client.messages.filter(({ type }) => type === 'latency');
    expect(latencies.length).toBeGreaterThanOrEqual(2);
    // Null: the report of what was played came too late, which a busy machine may do.
    for (const { heardMs, agentMs } of latencies) if (heardMs !== null) expect(heardMs).toBeGreaterThanOrEqual(agentMs);

    const entry = await gateway.client.waitFor(
      callUuid,
      'the recording',
      ({ status, recording }) => status === 'completed' && recording?.status === 'ready',
    );
    expect(entry).toMatchObject({
      channel: 'web',
      direction: 'inbound',
      to: `web:${ORIGIN}`,
      from: null,
      name: 'Asha',
      metadata: { page: '/tables' },
      endedReason: 'agent_hangup',
      hangupBy: 'agent',
    });
    expect(entry.transcript).toMatch(wasDisturbed ? /Customer: (\[unclear\] )?yes/ : /Customer: yes please/);
    const recording = await decodeRecording((await gateway.recording(callUuid))!);
    expect(loudness([recording.left])).toBeGreaterThan(100);
    expect(loudness([recording.right])).toBeGreaterThan(300);
    const webhook = await gateway.receiver.waitFor((one) => one.callUuid === callUuid);
    expect(webhook).toMatchObject({ verified: true, event: 'call.completed' });
    expect(webhook.body).toMatchObject({ channel: 'web', to: `web:${ORIGIN}` });
  });
});

describe.concurrent('a visitor', () => {
  test('who types is answered, and what the agent was saying is cut where it was heard', async () => {
    const client = await connect();
    await said(client, 'table?');
    client.send({ type: 'user.text', text: 'Yes, please!' });
    await client.waitFor('the long answer', ({ type, delta }) => type === 'transcript' && /open/.test(delta ?? ''));
    client.send({ type: 'user.text', text: 'no' });
    await client.waitForType('playback.clear');
    const cut = await said(client, 'Very well');
    expect(cut).toMatchObject({ interrupted: true });
    expect(cut['text']).not.toContain('street');
    client.send({ type: 'session.end' });
    expect(await client.closed).toBe(1000);
    const { callUuid } = await client.waitForType('session.ready');
    const entry = await gateway.client.waitFor(callUuid, 'the end', ({ status }) => status === 'completed');
    expect(entry).toMatchObject({ endedReason: 'user_hangup', hangupBy: 'caller' });
  });

  test('who asks for an order is told what a tool answered; one that stalls, is forbidden or redirects is spoken of; a page answers for itself', async () => {
    asked.length = 0;
    const client = await connect({}, orders);
    await said(client, 'order?');
    client.send({ type: 'user.text', text: '42' });
    const call = await client.waitForType('tool.call');
    expect(call).toMatchObject({ name: 'page', arguments: {}, timeoutMs: 10_000 });
    client.send({ type: 'tool.result', toolCallId: call['toolCallId'], result: { title: 'pizza' } });
    await client.waitForType('session.ended');
    expect(withoutBridges(client.transcript)).toEqual([
      'agent: Hello. Which order?',
      'user: 42',
      [
        'agent: Let me see. Order 42 comes on Thursday. One moment. It does not answer. It is not allowed.',
        'It has moved. You look at pizza. Goodbye.',
      ].join(' '),
    ]);
    expect(asked).toEqual(['/find', '/slow', '/moved']);
    const { callUuid } = await client.waitForType('session.ready');
    const entry = await gateway.client.waitFor(callUuid, 'the end', ({ status }) => status === 'completed');
    expect(entry.tools.map(({ name, status, error }) => [name, status, error])).toEqual([
      ['find', 200, null],
      ['slow', null, 'timeout'],
      ['private', null, 'refused'],
      ['moved', 307, 'redirected'],
      ['page', null, null],
    ]);
    expect(client.messages.filter(({ type }) => type === 'tool').length).toBe(10);
  });

  test('whose connection breaks in the middle of a sentence comes back: same call, one continuous transcript', async () => {
    const client = await connect();
    const ready = await client.waitForType('session.ready');
    await said(client, 'table?');
    client.send({ type: 'user.text', text: 'yes' });
    await client.waitFor('the long answer', ({ type, delta }) => type === 'transcript' && /open/.test(delta ?? ''));
    client.cut();
    await client.closed;
    await new Promise((done) => setTimeout(done, 2_000));
    const next = await comeBack(ready['resumeToken'], client.lastOrdinal);
    expect((await next.waitForType('session.ready'))['callUuid']).toBe(ready['callUuid']);
    await said(next, BRIDGE);
    await said(next, 'else?');
    await answer(next, 'no thank you', 'goodbye.');
    await next.waitForType('session.ended');
    const entry = await gateway.client.waitFor(ready['callUuid'], 'the end', ({ status }) => status === 'completed');
    expect(entry.endedReason).toBe('agent_hangup');
    const agentSaid = entry.turns.filter(({ role }) => role === 'agent');
    const heard = withoutBridges(agentSaid.map(({ heardText }) => `agent: ${heardText}`)).join(' ');
    expect(heard).toContain('both sides of the street');
    expect(heard).toContain('Thank you and goodbye.');
  });
});

describe('a session that its visitor has ended', () => {
  test('stays over: its token is refused with 4410 after 0 to 80 ms, and no agent talks', async () => {
    const endAndComeBack = async (pauseMs: number): Promise<void> => {
      const client = await connect();
      const ready = await client.waitForType('session.ready');
      await said(client, 'Hello');
      client.send({ type: 'session.end' });
      expect(await client.closed).toBe(1000);
      await new Promise((done) => setTimeout(done, pauseMs));
      const token = String(ready['resumeToken']);
      const back = new LiveClient({ baseUrl: gateway.service.publicUrl, parentOrigin: ORIGIN, token, start: null });
      expect(await back.closed).toBe(4410);
      expect(back.messages.map(({ type, code }) => code ?? type)).toEqual(['session_over']);
    };
    // An address has room for a few sessions at a time.
    await Promise.all([0, 5, 10, 20].map(endAndComeBack));
    await Promise.all([30, 40, 60, 80].map(endAndComeBack));
  });
});

describe('a visitor whose media process is killed', () => {
  test('has the session again: the resume token opens it in the next process, from its checkpoint', async () => {
    const client = await connect();
    const ready = await client.waitForType('session.ready');
    await said(client, 'table?');
    client.send({ type: 'user.text', text: 'yes' });
    await said(client, 'else?');
    process.kill(gateway.service.media[0]!.pid()!, 'SIGKILL');
    await client.closed;
    const next = await comeBack(ready['resumeToken']);
    expect((await next.waitForType('session.ready'))['callUuid']).toBe(ready['callUuid']);
    expect(next.messages.filter(({ type }) => type === 'error')).toEqual([]);
    await said(next, BRIDGE);
    await next.waitFor('listening', ({ type, state }) => type === 'state' && state === 'listening');
    await answer(next, 'no thank you', 'goodbye.');
    await next.waitForType('session.ended');
    const entry = await gateway.client.waitFor(ready['callUuid'], 'the end', ({ status }) => status === 'completed');
    expect(entry.endedReason).toBe('agent_hangup');
    expect(entry.turns.map(({ turnId }) => turnId)).toEqual([...new Set(entry.turns.map(({ turnId }) => turnId))]);
  });
});

/** As the widget does it: again and again until the window closes. */
async function comeBack(token: string, lastOrdinal = 0): Promise<LiveClient> {
  const untilMs = performance.now() + PATIENCE_MS;
  for (;;) {
    const client = new LiveClient({ baseUrl: gateway.service.publicUrl, parentOrigin: ORIGIN, token, start: null });
    const opened = await Promise.race([
      client.waitForType('welcome').then(() => true),
      client.closed.then(() => false),
    ]).catch(() => false);
    if (opened) {
      client.send({ type: 'session.resume', lastOrdinal });
      await client.waitForType('status');
      client.begin();
      return client;
    }
    if (performance.now() > untilMs)
      throw new Error(`not back in ${PATIENCE_MS} ms: ${JSON.stringify(client.messages)}`);
    await new Promise((done) => setTimeout(done, 500));
  }
}

/**
 * `npm run demo`: a phone conversation between an agent and a callee, each of whom really listens and really speaks,
 * placed through `POST /api/outbound-call` as a client would. In a terminal it stays up for more calls; with `--once`
 * or without a terminal it ends by itself, with exit code 0 only if the conversation really happened.
 */
import { availableParallelism, loadavg } from 'node:os';
import type { Call } from '../../clients/typescript/src/client.ts';
import { EMULATED_CALLEE_NUMBER } from '../../src/carriers/emulated-account.ts';
import { freePort } from '../harness/free-port.ts';
import { type Gateway, startGateway } from '../harness/gateway.ts';
import { readOptions, wrongValue } from '../harness/options.ts';
import { startBookingPlay } from './booking/booking-play.ts';
import { busySentence } from './busy-machine.ts';
import { choiceFault } from './choice-fault.ts';
import { narrateCallee, narrateGateway } from './narrate.ts';
import { startPageServer } from './page-server.ts';
import type { Play } from './play.ts';
import { startRestaurantPlay } from './restaurant/restaurant-play.ts';
import { type Story, tellStory } from './story.ts';
import { DEMO_USAGE } from './usage.ts';

const PREFERRED_PORT = 8080;
const PREFERRED_PAGE_PORT = 8090;
/** For what the event stream still holds when the record is complete. */
const LAST_EVENTS_MS = 500;

const { values, given } = readOptions(DEMO_USAGE);
const dataDir = values['data-dir'] ?? (process.env['PARLEY_DATA_DIR'] || 'data/demo');
const staysUp = !values.once && process.stdout.isTTY === true;
const beganAtEpochMs = Number(process.env['PARLEY_DEMO_BEGAN_AT_EPOCH_MS'] ?? Date.now());

const PLAYS: Record<string, () => Promise<Play>> = {
  scripted: startBookingPlay,
  cascade: () => startRestaurantPlay(values),
};

const wrong = choiceFault(values, given, Object.keys(PLAYS));
if (wrong !== null) wrongValue(wrong);

function curlFor(gateway: Gateway): string {
  const body = {
    to: EMULATED_CALLEE_NUMBER,
    agentId: gateway.agentId,
    enterprise: gateway.enterprise,
    from: gateway.lineId,
    name: 'Dana',
  };
  return `curl -X POST ${gateway.service.publicUrl}/api/outbound-call \\
  -H 'Authorization: Bearer ${gateway.apiKey}' -H 'Content-Type: application/json' \\
  -d '${JSON.stringify(body)}'`;
}

/** Places one call and tells it; returns what did not happen as it should. */
async function holdConversation(
  gateway: Gateway,
  play: Play,
  story: Story,
  placedAt: { ms: number | null },
): Promise<string[]> {
  story.heading('The call');
  const placed = await gateway.client.place({
    to: EMULATED_CALLEE_NUMBER,
    agentId: gateway.agentId,
    enterprise: gateway.enterprise,
    from: gateway.lineId,
    name: 'Dana',
    metadata: { ...play.metadata },
  });
  placedAt.ms = performance.now();
  const { callUuid } = placed.body;
  if (placed.httpStatus !== 200 || !callUuid)
    return [`the placement was answered ${placed.httpStatus}: ${placed.body.message}`];
  story.line('placed', `POST /api/outbound-call answered 200, callUuid ${callUuid}`);
  return tellCall(gateway, play, story, callUuid);
}

/** The carrier was given our callback address, which holds our id of the call. */
function callUuidIn(answerUrl: string): string | undefined {
  return /\/([0-9a-f-]{36})\/answer/.exec(answerUrl)?.[1];
}

/** Tells a placed call to its end; returns what did not happen as it should. */
async function tellCall(gateway: Gateway, play: Play, story: Story, callUuid: string): Promise<string[]> {
  const told = new AbortController();
  let decidedAtMs: number | null = null;
  const following = (async () => {
    for await (const event of gateway.client.follow(callUuid, told.signal)) {
      if (event.kind === 'barge_in' && event.data['phase'] === 'pause') decidedAtMs ??= Number(event.data['atMs']);
      narrateGateway(story, event);
    }
  })().catch((error: Error) => {
    if (!told.signal.aborted) story.failure(`the event stream broke: ${error.message}`);
  });
  const ofThisCall = (webhook: { callUuid: string }): boolean => webhook.callUuid === callUuid;
  const webhook = await gateway.receiver.waitFor(ofThisCall);
  story.line('webhook', `${webhook.event} arrived, signature ${webhook.verified ? 'verified' : 'NOT VERIFIED'}`);
  const entry = await gateway.client.waitFor(
    callUuid,
    'the recording',
    ({ answeredAt, recording }) => answeredAt === null || ['ready', 'failed'].includes(recording?.status ?? ''),
  );
  const recording = await gateway.recording(callUuid);
  story.line('record', `recording ${entry.recording?.status}: ${recordingText(entry, recording)}`);
  await Promise.race([following, new Promise((done) => setTimeout(done, LAST_EVENTS_MS))]);
  told.abort();

  showEntry(story, entry, recording);
  const emulated = (await gateway.emulator.calls()).findLast((call) =>
    call.to.endsWith(EMULATED_CALLEE_NUMBER.slice(1)),
  );
  if (!emulated) return ['the carrier emulator knows nothing of the call'];
  const clear = emulated.clears[0];
  story.heading('Figures');
  story.figure('answer to first word', answerToFirstWord(emulated));
  if (clear?.calleeSpeechStartAtEpochMs) {
    const untilSilentMs =
      (clear.lastAgentSampleAtEpochMs ?? clear.receivedAtEpochMs) - clear.calleeSpeechStartAtEpochMs;
    story.figure('callee speaks → silent', `${Math.round(untilSilentMs)} ms`);
  }
  if (clear?.lastAgentSampleAtEpochMs && emulated.streamOpenAtEpochMs && decidedAtMs !== null) {
    // By the callee's own audio: the instant of its sound at which the agent decided, so the
    // way there and back is in it.
    const decidedAtEpochMs = emulated.streamOpenAtEpochMs + decidedAtMs;
    story.figure(
      'decision → silent',
      `${Math.max(0, Math.round(clear.lastAgentSampleAtEpochMs - decidedAtEpochMs))} ms, give or take a 20 ms frame`,
    );
  }
  const used = play.endpoint.received.filter(({ body }) => body.call.callUuid === callUuid);
  return play.faultsOf({ entry, recording, webhook, emulated, used });
}

function tellFaults(story: Story, faults: readonly string[]): void {
  for (const fault of faults) story.failure(fault);
  const busy = busySentence(loadavg()[0]!, availableParallelism());
  if (faults.length > 0 && busy !== null) story.heading(busy);
}

function answerToFirstWord(emulated: {
  answeredAtEpochMs: number | null;
  firstAgentSoundAtEpochMs: number | null;
}): string {
  const { answeredAtEpochMs, firstAgentSoundAtEpochMs } = emulated;
  if (answeredAtEpochMs === null || firstAgentSoundAtEpochMs === null) return 'never';
  return `${Math.round(firstAgentSoundAtEpochMs - answeredAtEpochMs)} ms at the callee's ear`;
}

function recordingText({ recording }: Call, fetched: Buffer | null): string {
  if (fetched === null) return '-';
  return `${recording?.durationSeconds} s, ${Math.round(fetched.length / 1024)} kB, sealed at rest`;
}

function showEntry(story: Story, entry: Call, recording: Buffer | null): void {
  story.heading('The call log entry');
  story.figure('status', `${entry.status}, ${entry.endedReason}, hung up by ${entry.hangupBy}`);
  story.figure('duration', `${entry.durationSeconds} s`);
  story.figure('recording', recordingText(entry, recording));
  if (staysUp) {
    // Signed, for a day: a player opens it as it is.
    story.figure('listen', entry.recording?.url ?? '-');
    story.figure('keep it', `PARLEY_DATA_DIR=${dataDir} npx parley recording get ${entry.callUuid} --output call.ogg`);
  }
  story.heading('Transcript (only what was heard)');
  for (const line of (entry.transcript ?? '').split('\n')) story.figure('', line);
}

async function main(): Promise<number> {
  const placedAt: { ms: number | null } = { ms: null };
  const write = (line: string): void => void process.stdout.write(`${line}\n`);
  const story = tellStory(() => (placedAt.ms === null ? null : (performance.now() - placedAt.ms) / 1000), write);
  story.heading('Parley: embedded PostgreSQL, control, a media process and a carrier emulator');
  const pagePort = await freePort(PREFERRED_PAGE_PORT);
  const play = await PLAYS[values.agent]!();
  for (const line of play.about) story.line('', line);
  const gateway = await startGateway({
    // As it is delivered, unless somebody says otherwise.
    controlEnv: { PARLEY_ADMISSION: process.env['PARLEY_ADMISSION'] ?? 'measured' },
    environment: play.environment,
    dataDir,
    agent: play.agent,
    personas: play.personas,
    connections: play.connections,
    ...(process.env['PORT'] ? { port: Number(process.env['PORT']) } : { preferredPort: PREFERRED_PORT }),
    webOrigins: [`http://localhost:${pagePort}`],
    log: (line) => story.line('', line),
  });
  play.endpoint.setSecret(gateway.webhookSecret);
  // Ctrl-C comes twice below npm: from the terminal, and passed on.
  let stopping: Promise<never> | null = null;
  const stop = (code: number): Promise<never> => {
    stopping ??= gateway.stop().then(async () => {
      await play.close();
      return process.exit(code);
    });
    return stopping;
  };
  process.on('SIGINT', () => void stop(130));
  process.on('SIGTERM', () => void stop(143));
  process.on('SIGHUP', () => void stop(129));
  story.line(
    'ready',
    `${gateway.service.publicUrl}, ${((Date.now() - beganAtEpochMs) / 1000).toFixed(1)} s after the command`,
  );
  gateway.emulator.onEvent((event) => narrateCallee(story, event));
  const page = staysUp
    ? await startPageServer(gateway, {
        port: pagePort,
        publicKey: gateway.publicKey,
        play,
      })
    : null;
  if (page !== null) story.line('page', `open ${page.url} in a browser, once the first call is over`);

  const faults = await holdConversation(gateway, play, story, placedAt).catch((error: Error) => [error.message]);
  tellFaults(story, faults);
  story.heading(
    faults.length === 0 ? 'The conversation really happened.' : 'The conversation did not happen as it should.',
  );
  if (!staysUp) return stop(faults.length === 0 ? 0 : 1);

  story.heading(`Parley stays up at ${gateway.service.publicUrl}. The next call:`);
  write(`\n${curlFor(gateway)}\n`);
  if (page !== null) write(`or open ${page.url} and press the button there.\n`);
  write('(Ctrl-C ends it)');
  gateway.emulator.onEvent((event) => {
    if (event.event !== 'placed') return;
    const callUuid = callUuidIn(event.answerUrl);
    if (!callUuid) return;
    placedAt.ms = performance.now();
    story.heading('The next call');
    tellCall(gateway, play, story, callUuid)
      .then((later) => tellFaults(story, later))
      .catch((error: Error) => story.failure(error.message));
  });
  return new Promise(() => {});
}

// A terminal that is gone must not keep the demo from ending what it started.
process.stdout.on('error', () => {});
process.stderr.on('error', () => {});

try {
  await main();
} catch (error) {
  process.stderr.write(`demo: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}

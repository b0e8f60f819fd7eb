/**
 * The carrier emulator as one object: REST API, control endpoint, calls. Started by its name (`emulators.ts`), by the
 * emulator's own process and by tests in theirs. It owns its server, its sockets and its timers, and closes them all.
 *
 *   /v1/Account/{authId}/…               the carrier's REST API
 *   /emulator/calls                      every call's truth, JSON
 *   /emulator/calls/{uuid}               one call's
 *   /emulator/calls/{uuid}/recording.wav stereo: callee left, agent right
 *   /emulator/calls/{uuid}/hangup        POST: the callee hangs up
 *   /emulator/personas                   PUT a JSON list: replaces those of the same numbers, adds the rest
 */
import { randomInt, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent } from 'undici';
import { type Clock, systemClock } from '../../../media/contract/clock.ts';
import { CallTruth } from '../call-truth.ts';
import type { Callee, CalleeListener } from '../callees/callee.ts';
import { createInterjectingCallee } from '../callees/interjecting-callee.ts';
import { createSilentCallee, createToneCallee, createWavCallee } from '../callees/steady-callee.ts';
import type { EmulatorOptions, GuestCall, RunningEmulator } from '../emulator-command.ts';
import { FrameClock } from '../frame-clock.ts';
import { type Persona, type PersonaInput, type PlacementFault, parsePersonas, personaFor } from '../persona.ts';
import { createCallbackSender } from './callback-sender.ts';
import { type CallDeps, EmulatedCall } from './emulated-call.ts';
import { HANGUPS } from './hangup.ts';
import type { Placement } from './placement.ts';
import { createRestApi } from './rest-api.ts';

export interface PlivoEmulatorOptions extends EmulatorOptions {
  authId: string;
  authToken: string;
  clock?: Clock;
  /** The account's numbers; another `from` is refused. Default: any. */
  ownNumbers?: readonly string[];
  requestsPer5Seconds?: number;
  /** Plivo's `CallUUID` is usually the `request_uuid` of a single destination, and need not be. */
  sameUuids?: boolean;
  upgradeSignedAs?: 'dialled' | 'https';
  /** An upgrade that takes longer is given up, and tried again; default 5 s. */
  handshakeTimeoutMs?: number;
}

export interface PlivoEmulator extends RunningEmulator {
  /** Every call so far, in order of placement. */
  calls(): readonly EmulatedCall[];
  /** By call or request UUID. */
  find(uuid: string): EmulatedCall | null;
  setPersonas(personas: readonly PersonaInput[]): void;
}

const HANDSHAKE_TIMEOUT_MS = 5_000;
const UNKNOWN_NUMBER: Persona = parsePersonas([
  { kind: 'silent', name: 'nobody', number: '*', outcome: 'invalid_number' },
])[0]!;

export async function startPlivoEmulator(options: PlivoEmulatorOptions): Promise<PlivoEmulator> {
  const clock = options.clock ?? systemClock;
  let personas = parsePersonas(options.personas);
  const faultsUsed = new Map<Persona, number>();
  const calls: EmulatedCall[] = [];
  const guestCalls = new Map<EmulatedCall, GuestCall>();
  const byUuid = new Map<string, EmulatedCall>();
  const frameClock = new FrameClock(clock);
  const dispatcher = new Agent({ connect: { timeout: 2_000 } });
  const sender = createCallbackSender({
    authToken: options.authToken,
    dispatcher,
    newNonce: () => `${randomInt(1e9, 1e10)}${randomInt(1e9, 1e10)}`,
    upgradeSignedAs: options.upgradeSignedAs ?? 'dialled',
  });
  const deps: CallDeps = {
    clock,
    frameClock,
    sender,
    accountId: options.authId,
    handshakeTimeoutMs: options.handshakeTimeoutMs ?? HANDSHAKE_TIMEOUT_MS,
    newId: randomUUID,
    createCallee,
    tell(call, event) {
      options.onEvent?.({ ...event, callUuid: call.callUuid, atEpochMs: call.truth.nowEpochMs() });
      if (event.event === 'hangup') leaveGuest(call);
    },
  };

  /** It is over and forgotten: a run may place more of them than there is memory for. */
  function leaveGuest(call: EmulatedCall): void {
    const guest = guestCalls.get(call);
    if (guest === undefined) return;
    guestCalls.delete(call);
    calls.splice(calls.indexOf(call), 1);
    byUuid.delete(call.callUuid);
    byUuid.delete(call.requestUuid);
    options.guests?.over(call.persona, guest);
  }

  function createCallee(persona: Persona, call: EmulatedCall): Callee {
    const guest = guestCalls.get(call);
    if (guest !== undefined && options.guests !== undefined) return options.guests.calleeOf(persona, guest);
    switch (persona.kind) {
      case 'silent':
        return createSilentCallee();
      case 'tone':
        return createToneCallee(persona.toneHz);
      case 'wav':
        return createWavCallee(persona.path);
      case 'interjecting':
        return createInterjectingCallee(persona, listenerOf(call));
      case 'speaking':
      case 'reciting':
        if (options.createSpeakingCallee === undefined) {
          throw new Error(`persona ${persona.name} speaks, and this emulator was started without engines`);
        }
        return options.createSpeakingCallee(persona, listenerOf(call));
    }
  }

  function listenerOf(call: EmulatedCall): CalleeListener {
    const { truth } = call;
    return {
      said(text, interrupting) {
        const startAtEpochMs = truth.nowEpochMs();
        const startMs = truth.timeline?.durationMs ?? 0;
        truth.said.push({ text, interrupting, startAtEpochMs, endAtEpochMs: null, startMs });
        deps.tell(call, { event: 'said', text, interrupting });
      },
      saidAll() {
        const last = truth.said.at(-1);
        if (last !== undefined) last.endAtEpochMs = truth.nowEpochMs();
      },
      heard(text, understood) {
        truth.heard.push({ text, understood, atEpochMs: truth.nowEpochMs() });
        deps.tell(call, { event: 'heard', text, understood });
      },
      hangUp: () => call.hangUpByCallee(),
      warning: (message) => deps.tell(call, { event: 'warning', message }),
    };
  }

  function startCall(placement: Placement, requestUuid: string): void {
    const isGuest = (call: GuestCall): Persona | null =>
      options.guests?.personaOf(placement.to.replace(/^\+?/, '+'), call) ?? null;
    const callUuid = options.sameUuids === false ? randomUUID() : requestUuid;
    const truth = new CallTruth(clock, options.keepAudio ?? true);
    truth.placedAtEpochMs = truth.nowEpochMs();
    const guestCall: GuestCall = { callUuid, truth, hangUp: () => call.hangUpByCallee() };
    const guest = isGuest(guestCall);
    const persona = guest ?? personaFor(personas, placement.to) ?? UNKNOWN_NUMBER;
    const call = new EmulatedCall(deps, { callUuid, requestUuid }, placement, persona, truth);
    calls.push(call);
    if (guest !== null) guestCalls.set(call, guestCall);
    byUuid.set(callUuid, call).set(requestUuid, call);
    const { from, to, answerUrl } = placement;
    deps.tell(call, { event: 'placed', from, to, persona: persona.name, answerUrl });
    call.live().catch((error: unknown) => {
      deps.tell(call, {
        event: 'warning',
        message: `the emulator failed: ${error instanceof Error ? error.stack : error}`,
      });
      call.end(HANGUPS.answerUrl);
    });
  }

  function takePlacementFault(to: string): PlacementFault | null {
    const persona = personaFor(personas, to);
    const fault = persona?.faults.placement;
    if (persona === null || fault === undefined) return null;
    const used = faultsUsed.get(persona) ?? 0;
    faultsUsed.set(persona, used + 1);
    return fault.times !== undefined && used >= fault.times ? null : fault;
  }

  function setPersonas(added: readonly PersonaInput[]): void {
    const parsed = parsePersonas(added);
    const numbers = new Set(parsed.map((persona) => persona.number));
    personas = [...parsed, ...personas.filter((persona) => !numbers.has(persona.number))];
  }

  const restApi = createRestApi({
    authId: options.authId,
    authToken: options.authToken,
    clock,
    newId: randomUUID,
    ownNumbers: options.ownNumbers ?? null,
    requestsPer5Seconds: options.requestsPer5Seconds ?? null,
    startCall,
    takePlacementFault,
    find: (uuid) => byUuid.get(uuid) ?? null,
    ongoingCalls: () => calls.filter((call) => !call.isOver),
  });
  const server = createServer((request, response) => {
    const handled = request.url?.startsWith('/emulator/')
      ? control(request, response, { calls, find: (uuid) => byUuid.get(uuid) ?? null, setPersonas })
      : restApi(request, response);
    handled.catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500).end(String(error));
    });
  });
  const host = options.host ?? '127.0.0.1';
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, host, () => resolve());
  });
  const { port } = server.address() as AddressInfo;
  let closing: Promise<void> | null = null;
  return {
    port,
    apiBase: `http://${host}:${port}`,
    calls: () => calls,
    find: (uuid) => byUuid.get(uuid) ?? null,
    setPersonas,
    close() {
      closing ??= (async () => {
        for (const call of [...calls]) if (!call.isOver) call.end(HANGUPS.timeLimit);
        frameClock.close();
        const closed = new Promise<void>((resolve) => server.close(() => resolve()));
        server.closeAllConnections();
        await closed;
        await dispatcher.destroy();
      })();
      return closing;
    },
  };
}

/** One call's truth with what identifies it. */
export function callAsJson(call: EmulatedCall): Record<string, unknown> {
  return {
    callUuid: call.callUuid,
    requestUuid: call.requestUuid,
    from: call.placement.from,
    to: call.placement.to,
    persona: call.persona.name,
    state: call.state,
    ...call.truth.toJson(),
  };
}

interface Controlled {
  calls: readonly EmulatedCall[];
  find(uuid: string): EmulatedCall | null;
  setPersonas(personas: readonly PersonaInput[]): void;
}

async function control(request: IncomingMessage, response: ServerResponse, controlled: Controlled): Promise<void> {
  const { pathname } = new URL(request.url ?? '/', 'http://emulator');
  const [, , collection, uuid, part] = pathname.split('/');
  const json = (status: number, body: unknown): void =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  if (collection === 'personas' && request.method === 'PUT') {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    try {
      controlled.setPersonas(JSON.parse(Buffer.concat(chunks).toString('utf8')));
      return json(200, { ok: true });
    } catch (error) {
      return json(400, { error: error instanceof Error ? error.message : String(error) });
    }
  }
  const isHangup = part === 'hangup' && request.method === 'POST';
  if (collection !== 'calls' || !(isHangup || request.method === 'GET')) return json(404, { error: 'not found' });
  if (uuid === undefined || uuid === '') return json(200, controlled.calls.map(callAsJson));
  const call = controlled.find(uuid);
  if (call === null) return json(404, { error: 'no such call' });
  if (isHangup) call.hangUpByCallee();
  if (part === 'recording.wav') {
    if (call.truth.timeline === null) return json(404, { error: 'audio is not kept' });
    return void response.writeHead(200, { 'content-type': 'audio/wav' }).end(call.truth.timeline.toWav());
  }
  return json(200, callAsJson(call));
}

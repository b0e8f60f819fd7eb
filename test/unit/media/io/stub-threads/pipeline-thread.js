// A pipeline thread that does as the digits pressed say: 1 throws, 2 spins, 3 exits, 4 runs out of memory, 5 ends the
// call, 6 falls silent, 7 begins to say something, of which six characters were heard, 8 has more of it to say, and
// eleven were heard. While it obeys the first six it works for the call that was pressed (`media/rings/suspect.ts`).
// With rings (`STUB_RINGS`, the built folder `dist/media/rings`) it echoes what it hears.
import { parentPort, workerData } from 'node:worker_threads';

/** Of the call's block (`media/rings/call-block.ts`). */
const HEARD_CHARS_WORD = 6;
const calls = new Map();
let beats = true;
const rings = process.env.STUB_RINGS ? await import(`${process.env.STUB_RINGS}/call-block.js`) : null;
const bells = process.env.STUB_RINGS ? await import(`${process.env.STUB_RINGS}/bell.js`) : null;
const ioBell = bells === null ? null : new bells.Bell(workerData.ioBell);

parentPort.on('message', (message) => {
  const { callUuid } = message;
  switch (message.type) {
    case 'engines':
      parentPort.postMessage({ type: 'call.event', callUuid: 'engines', event: { type: 'warning' } });
      break;
    case 'call.start': {
      const setup = message.setup;
      calls.set(setup.callUuid, { memory: message.call, block: rings?.CallBlock.attach(message.call, setup.format) ?? null, seq: 0 });
      const { checkpoint: from } = setup;
      const cut = from?.cut === undefined ? '' : `, cut in '${from.cut.text}' after '${from.cut.heardText}'`;
      const step = from === null ? 'begun' : `resumed ${from.stepId} with turn ${from.nextTurnNumber}${cut}`;
      const event = { type: 'step', stepId: `${workerData.threadIndex} ${step}`, atMs: 0 };
      parentPort.postMessage({ type: 'call.event', callUuid: setup.callUuid, event });
      const checkpoint = { stepId: 's1', variables: {}, misses: 0, visits: {}, nextTurnNumber: 2, atMs: 0 };
      parentPort.postMessage({ type: 'call.checkpoint', callUuid: setup.callUuid, checkpoint });
      break;
    }
    case 'call.command':
      if (message.command.type === 'key') obey(message.command.key, callUuid);
      break;
    case 'call.stop': {
      calls.delete(callUuid);
      const turn = { turnId: 't1', role: 'agent', startMs: 0, endMs: 1, text: 'bye', heardText: 'bye', interrupted: false };
      parentPort.postMessage({ type: 'call.event', callUuid, event: { type: 'turn', turn } });
      parentPort.postMessage({ type: 'call.closed', callUuid });
      break;
    }
  }
});

const suspect = new Int32Array(workerData.suspect);

/** As `Suspect.numberOf`. */
function numberOf(callUuid) {
  let hash = 0x811c9dc5;
  for (let i = 0; i < callUuid.length; i++) hash = Math.imul(hash ^ callUuid.charCodeAt(i), 0x01000193);
  return hash | 1;
}

function obey(digit, callUuid) {
  suspect[0] = numberOf(callUuid);
  carryOut(digit, callUuid);
  suspect[0] = 0;
}

function carryOut(digit, callUuid) {
  if (digit === '1') throw new Error('told to throw');
  if (digit === '2') for (;;);
  if (digit === '3') process.exit(3);
  if (digit === '4') {
    const held = [];
    for (;;) held.push(new Array(1_000_000).fill(held.length));
  }
  if (digit === '5') {
    const end = { type: 'call.end', callUuid, reason: 'agent_hangup', disposition: null, error: null };
    parentPort.postMessage(end);
  }
  if (digit === '6') beats = false;
  if (digit === '7') {
    const utterance = { turnId: 't4', text: 'Hello there.', stepId: 's1', startMs: 9000, startStreamMs: 4000 };
    new Int32Array(calls.get(callUuid).memory)[HEARD_CHARS_WORD] = 6;
    parentPort.postMessage({ type: 'call.speaking', callUuid, utterance });
  }
  if (digit === '8') {
    const begun = { turnId: 't4', text: 'Hello', stepId: 's1', startMs: 9000, startStreamMs: 4000 };
    parentPort.postMessage({ type: 'call.speaking', callUuid, utterance: begun });
    parentPort.postMessage({ type: 'call.speaking.more', callUuid, turnId: 't3', more: ' of another turn' });
    parentPort.postMessage({ type: 'call.speaking.more', callUuid, turnId: 't4', more: ' there, how' });
    parentPort.postMessage({ type: 'call.speaking.more', callUuid, turnId: 't4', more: ' are you' });
    new Int32Array(calls.get(callUuid).memory)[HEARD_CHARS_WORD] = 11;
  }
}

function echo() {
  for (const call of calls.values()) {
    if (call.block === null) continue;
    const { uplink, downlink } = call.block;
    while (uplink.peek()) {
      const { bytes, payloadStart, lengthBytes } = uplink;
      downlink.tryWrite(bytes, payloadStart, lengthBytes, call.block.generation, ++call.seq, 0);
      uplink.release();
      ioBell.ring();
    }
  }
}

setInterval(() => {
  if (beats) parentPort.postMessage({ type: 'heartbeat', calls: calls.size });
}, 200);
if (rings !== null) setInterval(echo, 5);
// By its place among the threads of a pool: it comes up and dies, the others are slow to come.
if (workerData.diesAt !== undefined && workerData.threadIndex !== workerData.diesAt) {
  await new Promise((resolve) => setTimeout(resolve, 300));
}
parentPort.postMessage({ type: 'ready' });
if (workerData.threadIndex === workerData.diesAt || workerData.diesAt === 'all') process.exit(3);

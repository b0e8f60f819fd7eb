/** How sound goes to a provider thread: in what pieces, and before which orders. */
import type { MessagePort } from 'node:worker_threads';
import { expect, test } from 'vitest';
import type { CallEar } from '../../../../../media/contract/ear.ts';
import type { EarOrder } from '../../../../../media/engines/provider/provider-ear.ts';
import type { FromProvider, ToProvider } from '../../../../../media/engines/provider/provider-messages.ts';
import { remoteEarOf } from '../../../../../media/engines/provider/remote-ear.ts';

const FRAME_MS = 20;
const TRAITS = { hears: 'everything', tellsTurns: false, tellsWordTimes: true, tellsConfidence: true } as const;

/** An ear of a mu-law leg, what it said on its line, and the thread's way to answer. */
function remoteEar() {
  const said: string[] = [];
  let answer = (_message: FromProvider): void => {};
  const port = {
    on: (event: string, heard: typeof answer) => {
      if (event === 'message') answer = heard;
    },
    ref() {},
    unref() {},
    postMessage(messages: readonly ToProvider[]) {
      for (const message of messages) {
        if (message.type !== 'say') continue;
        const order = message.body as EarOrder;
        said.push(order.type === 'sound' ? `${order.sound.length / 8} ms from ${order.atMs}` : order.type);
      }
    },
  } as unknown as MessagePort;
  const open = remoteEarOf('ears', TRAITS)(() => port);
  const nothing = (): void => {};
  const use = { callUuid: 'call-1', connection: 'main', settings: {} };
  const ear = open(8_000, use, 'mulaw')({ words: nothing, failed: nothing }) as Required<CallEar>;
  let atMs = 0;
  return {
    ear,
    hears(frames: number, skippedMs = 0) {
      atMs += skippedMs;
      for (let i = 0; i < frames; i++, atMs += FRAME_MS) ear.pushMulaw(new Uint8Array(160), atMs);
    },
    final: (turn: number) =>
      answer({
        type: 'say',
        line: 1,
        body: { type: 'words', words: { turn, text: 'yes', final: true, rejected: false } },
      }),
    /** Once what was said in one go has left. */
    async took() {
      await Promise.resolve();
      return said.splice(0);
    },
  };
}

test('in a turn each 60 ms of sound are sent, else each 120', async () => {
  const { ear, hears, final, took } = remoteEar();
  hears(11);
  expect(await took()).toEqual(['120 ms from 0']);
  ear.turnBegan(1, 160);
  expect(await took()).toEqual(['100 ms from 120', 'began']);
  hears(7);
  expect(await took()).toEqual(['60 ms from 220', '60 ms from 280']);
  ear.turnOver();
  expect(await took()).toEqual(['20 ms from 340', 'over']);
  hears(3);
  expect(await took()).toEqual(['60 ms from 360']);
  final(1);
  hears(6);
  expect(await took()).toEqual(['120 ms from 420']);
});

test('a piece holds sound without holes', async () => {
  const { hears, took } = remoteEar();
  hears(2);
  hears(6, 40);
  expect(await took()).toEqual(['40 ms from 0', '120 ms from 80']);
});

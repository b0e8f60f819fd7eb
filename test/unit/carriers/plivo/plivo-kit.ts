/** Plivo for the conformance suite: its carrier at its emulator, with a gateway that answers what the emulator asks. */
import { Agent } from 'undici';
import { startPlivoEmulator } from '../../../../bench/emulators/plivo/plivo-emulator.ts';
import { PATIENCE_MS } from '../../../../bench/harness/patience.ts';
import { CARRIERS } from '../../../../media/contract/carriers.ts';
import { systemClock } from '../../../../media/contract/clock.ts';
import { createPlivoCodecFactory } from '../../../../media/io/carriers/plivo/plivo-codec.ts';
import type { Carrier } from '../../../../src/carriers/carrier.ts';
import { plivoCarrierFactory } from '../../../../src/carriers/plivo/plivo-carrier.ts';
import { signV3 } from '../../../../src/carriers/plivo/signature-v3.ts';
import { eventually } from '../../../support/eventually.ts';
import { startGatewayFake } from '../../bench/emulators/gateway-fake.ts';
import type { CarrierKit } from '../carrier-conformance.ts';

const CREDENTIALS = { authId: 'MATEST', authToken: 'canary-secret-token' };
const TO = '+15550100001';

export async function openPlivoKit(): Promise<{ kit: CarrierKit; close(): Promise<void> }> {
  const dispatcher = new Agent({ connect: { timeout: PATIENCE_MS } });
  const emulator = await startPlivoEmulator({
    ...CREDENTIALS,
    personas: [{ kind: 'tone', name: 'P', toneHz: 440, number: TO, dialMs: 0, ringMs: 0 }],
  });
  /** What the carrier of the latest call answers with. */
  let speaker: Carrier | null = null;
  const gateway = await startGatewayFake({
    document(path, mediaUrl, base) {
      if (path !== 'answer' || speaker === null) return { body: '<Response/>' };
      const { contentType, body } = speaker.answerDocument({
        mediaUrl,
        statusUrl: `${base}/stream`,
        nextUrl: `${base}/next`,
        pauseSeconds: 0,
        format: CARRIERS.plivo.formats[0],
      });
      return { type: contentType, body };
    },
  });
  let nonce = 0;
  const deps = { dispatcher, clock: systemClock, totalTimeoutMs: PATIENCE_MS, lateAnswerMs: PATIENCE_MS };
  const notDeclared = (what: string) => () => Promise.reject(new Error(`Plivo declares no ${what}`));

  const kit: CarrierKit = {
    name: 'plivo',
    declared: CARRIERS.plivo,
    credentials: CREDENTIALS,
    make: (credentials) => plivoCarrierFactory(deps)(credentials, { apiBase: emulator.apiBase }),
    codecs: createPlivoCodecFactory,
    async ongoingCall(carrier) {
      speaker = carrier;
      const placed = await carrier.place({
        callUuid: 'c1',
        to: TO,
        from: '+15550100000',
        ringTimeoutSeconds: 30,
        maxDurationSeconds: 60,
        callbackBase: gateway.base,
      });
      if (placed.kind !== 'accepted') throw new Error(placed.kind);
      const carrierCallId = placed.carrierRequestId;
      /** One of this call, however many there were before. */
      const told = (kind: string, event?: string) =>
        eventually(`callback ${kind} of ${carrierCallId}`, () =>
          gateway.callbacks.find(
            (callback) =>
              callback.kind === kind &&
              callback.params['CallUUID'] === carrierCallId &&
              (event === undefined || callback.params['Event'] === event),
          ),
        );
      await told('stream', 'StartStream');
      const socket = await gateway.nextSocket();
      return {
        carrierCallId,
        documentUrl: `${gateway.base}/moved`,
        askedForDocument: () => told('moved'),
        transferredTo: notDeclared('transfer'),
        keysPressed: notDeclared('keys by request'),
        hasEnded: () => told('hangup'),
        stream: {
          received: () => socket.received.map(({ text, isBinary }) => ({ bytes: Buffer.from(text), isBinary })),
          said: () => emulator.find(carrierCallId)?.truth.timeline?.side('callee') ?? new Uint8Array(),
          lose: () => socket.raw.terminate(),
        },
        askedForNext: () => told('next'),
      };
    },
    signed(kind, params) {
      const request = { method: 'POST', url: `https://gw.example.com/carriers/plivo/c1/${kind}`, params } as const;
      const given = String(++nonce);
      const signature = signV3(CREDENTIALS.authToken, request, given);
      return { ...request, headers: { 'x-plivo-signature-v3': signature, 'x-plivo-signature-v3-nonce': given } };
    },
    machineParams: null,
    incomingParams: null,
  };
  return {
    kit,
    async close() {
      await emulator.close();
      await gateway.close();
      await dispatcher.destroy();
    },
  };
}

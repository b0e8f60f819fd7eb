/**
 * What every carrier must do, and what it declares of itself (`media/contract/carriers.ts`) must be able to do: named
 * checks over a kit that each carrier's test makes. A part that is there and not declared fails, as does one that is
 * declared and not there.
 */
import { expect } from 'vitest';
import { frameBytesOf, type LegFormat } from '../../../media/contract/audio-format.ts';
import type { CarrierDeclaration, FramesPerMessage } from '../../../media/contract/carriers.ts';
import type { MediaCodec, MediaCodecFactory } from '../../../media/io/carriers/media-codec.ts';
import type { CallbackRequest, Carrier, StreamInstruction } from '../../../src/carriers/carrier.ts';
import { eventually } from '../../support/eventually.ts';
import { NO_STREAM_EVENTS } from '../../support/fakes/no-stream-events.ts';

export interface CallAtCarrier {
  carrierCallId: string;
  /** A public address at which the carrier may ask for a document. */
  documentUrl: string;
  /** Resolves when it has asked there. */
  askedForDocument(): Promise<unknown>;
  /** Resolves with the number that the call was handed to. */
  transferredTo(): Promise<string>;
  /** Resolves when these keys have reached the far end. */
  keysPressed(): Promise<string>;
  hasEnded(): Promise<unknown>;
  /** The call's stream at the gateway. */
  stream: {
    /** All messages so far, as they came. */
    received(): readonly { bytes: Uint8Array; isBinary: boolean }[];
    /** What the callee has said from the stream's first frame on, in the first declared format. */
    said(): Uint8Array;
    /** The socket breaks, as with the process that held it. */
    lose(): void;
  };
  /** Resolves when the carrier has asked at the document's `nextUrl`. */
  askedForNext(): Promise<unknown>;
}

export interface CarrierKit {
  name: string;
  declared: CarrierDeclaration;
  /** All that it wants, and right. */
  credentials: Record<string, string>;
  /** At its emulator. */
  make(credentials: Record<string, string>): Carrier;
  codecs(settings: { framesPerMessage: FramesPerMessage }): MediaCodecFactory;
  /**
   * A call that was answered and has its stream, at the emulator: its callee speaks, and its document is the carrier's
   * own.
   */
  ongoingCall(carrier: Carrier): Promise<CallAtCarrier>;
  /** As the carrier would send it: signed, and unlike any other. */
  signed(kind: string, params: Record<string, string>): CallbackRequest;
  /** Parameters that say, by what was declared, that a machine answered; that a call comes in. */
  machineParams: Record<string, string> | null;
  incomingParams: Record<string, string> | null;
}

export interface CarrierCheck {
  claims: string;
  run(kit: CarrierKit): Promise<void> | void;
}

const STREAM: Omit<StreamInstruction, 'format'> = {
  mediaUrl: 'wss://gw.example.com/media/x/T0ken',
  statusUrl: 'https://gw.example.com/carriers/x/c1/stream',
  nextUrl: 'https://gw.example.com/carriers/x/c1/next',
  pauseSeconds: 0,
};
/** Half a second. */
const SPOKEN_FRAMES = 25;
const ALL_FORMATS: readonly LegFormat[] = (['mulaw', 'pcm_s16le', 'opus'] as const).flatMap((codec) =>
  ([8000, 16000, 24000, 48000] as const).map((rateHz) => ({ codec, rateHz })),
);
const KINDS = ['answer', 'next', 'ring', 'hangup', 'stream', 'no-such-kind', 'toString'];
const whole = (kit: CarrierKit): Carrier => kit.make(kit.credentials);
const codecOf = (kit: CarrierKit, format: LegFormat): MediaCodec =>
  kit.codecs({ framesPerMessage: kit.declared.framesPerMessage[0] }).create(format, NO_STREAM_EVENTS);
const isDeclared = (kit: CarrierKit, format: LegFormat): boolean =>
  kit.declared.formats.some(({ codec, rateHz }) => codec === format.codec && rateHz === format.rateHz);

export const CARRIER_CHECKS: readonly CarrierCheck[] = [
  {
    claims: 'it has the name of the list, on both sides',
    run(kit) {
      expect(whole(kit).name).toBe(kit.name);
      expect(kit.codecs({ framesPerMessage: kit.declared.framesPerMessage[0] }).carrier).toBe(kit.name);
    },
  },
  {
    claims: 'it wants the credentials that it declares, each of them, and no others',
    run(kit) {
      const names = kit.declared.credentials.map(({ name }) => name);
      expect(Object.keys(kit.credentials).toSorted()).toEqual(names.toSorted());
      expect(kit.make({}).missingCredentials()).toEqual(names);
      for (const name of names)
        expect(kit.make({ ...kit.credentials, [name]: '' }).missingCredentials()).toEqual([name]);
      expect(whole(kit).missingCredentials()).toEqual([]);
    },
  },
  {
    claims: 'its answer document opens the stream in each format that it declares, and in no other',
    run(kit) {
      for (const format of ALL_FORMATS) {
        const answer = (): { contentType: string; body: string } => whole(kit).answerDocument({ ...STREAM, format });
        if (!isDeclared(kit, format)) expect(answer, JSON.stringify(format)).toThrow();
        else expect(answer().body).toContain(STREAM.mediaUrl);
      }
      expect(whole(kit).hangupDocument().body).not.toContain('media');
    },
  },
  {
    claims: 'its codec plays every declared number of frames in every declared format',
    run(kit) {
      for (const framesPerMessage of kit.declared.framesPerMessage) {
        const factory = kit.codecs({ framesPerMessage });
        expect(factory.framesPerMessage).toBe(framesPerMessage);
        for (const format of kit.declared.formats) {
          const codec = factory.create(format, NO_STREAM_EVENTS);
          const bytes = new Uint8Array(frameBytesOf(format) * framesPerMessage);
          expect(codec.audioMessage(bytes, 0, bytes.length).length).toBeGreaterThan(0);
          expect(codec.checkpointMessage('g0-1').length).toBeGreaterThan(0);
          expect(codec.clearMessage().length).toBeGreaterThan(0);
        }
      }
    },
  },
  {
    claims: 'its codec takes any bytes without a word',
    run(kit) {
      const codec = codecOf(kit, kit.declared.formats[0]);
      for (const text of ['', '{', 'null', '[]', '{}', '{"event":"media"}', '\u0000', '{"event":"start","start":7}']) {
        for (const isBinary of [false, true]) codec.decode(new TextEncoder().encode(text), isBinary);
      }
    },
  },
  {
    claims: 'its codec reads what its emulator sends: one start, then all that the callee said, and nothing else',
    async run(kit) {
      const { stream } = await kit.ongoingCall(whole(kit));
      let starts = 0;
      const heard: number[] = [];
      const codec = kit.codecs({ framesPerMessage: kit.declared.framesPerMessage[0] }).create(kit.declared.formats[0], {
        ...NO_STREAM_EVENTS,
        started: ({ format }) => {
          starts++;
          if (format !== null) expect(format).toEqual(kit.declared.formats[0]);
        },
        audio: (bytes, start, lengthBytes) => heard.push(...bytes.subarray(start, start + lengthBytes)),
      });
      const wantedBytes = frameBytesOf(kit.declared.formats[0]) * SPOKEN_FRAMES;
      let read = 0;
      await eventually('what the callee said', () => {
        const messages = stream.received();
        for (; read < messages.length; read++) {
          const { bytes, isBinary } = messages[read]!;
          expect(['audio', 'event', 'ignored'], `message ${read}`).toContain(codec.decode(bytes, isBinary));
        }
        return heard.length >= wantedBytes;
      });
      expect(starts).toBe(1);
      expect(new Set(heard).size, 'sound that is no silence').toBeGreaterThan(2);
      expect(Buffer.from(heard).equals(stream.said().subarray(0, heard.length)), 'what was said is heard').toBe(true);
    },
  },
  {
    claims: 'when the stream is lost and the call is not, the carrier asks for what is next',
    async run(kit) {
      const { stream, askedForNext, hasEnded } = await kit.ongoingCall(whole(kit));
      stream.lose();
      const first = await Promise.race([askedForNext().then(() => 'asked'), hasEnded().then(() => 'ended')]);
      expect(first).toBe('asked');
    },
  },
  {
    claims: 'a callback counts with its signature only; a copy has the same one, and the next request another',
    run(kit) {
      const carrier = whole(kit);
      const request = kit.signed('ring', { a: '1' });
      expect(carrier.verifyCallback(request)).toBe(true);
      expect(carrier.verifyCallback({ ...request, headers: {} })).toBe(false);
      expect(carrier.verifyCallback({ ...request, params: { a: '2' } })).toBe(false);
      expect(carrier.verifyCallback({ ...request, url: `${request.url}x` })).toBe(false);
      expect(carrier.signatureOf(request)).toBe(carrier.signatureOf({ ...request }));
      expect(carrier.signatureOf(kit.signed('ring', { a: '1' }))).not.toBe(carrier.signatureOf(request));
      expect(carrier.verifyUpgrade({ url: STREAM.mediaUrl, headers: {} })).not.toBe('ok');
    },
  },
  {
    claims: 'any callback can be read',
    run(kit) {
      const odd = ['', '\u0000', '-1', '1e999', '{}', 'x'.repeat(5_000), '\ud800'];
      for (const kind of KINDS) {
        expect(whole(kit).parseCallback(kind, kit.signed(kind, {})).type).toBe('ignored');
        for (const value of odd) {
          const params = Object.fromEntries(
            ['CallUUID', 'CallSid', 'Event', 'status', 'id'].map((key) => [key, value]),
          );
          expect(typeof whole(kit).parseCallback(kind, kit.signed(kind, params)).type).toBe('string');
        }
      }
    },
  },
  {
    claims: 'a live call is found, hung up, and then gone; what is over counts as ended',
    async run(kit) {
      const carrier = whole(kit);
      const { carrierCallId, hasEnded } = await kit.ongoingCall(carrier);
      expect(await carrier.lookup(carrierCallId)).toBe('in_progress');
      expect(await carrier.hangup(carrierCallId)).toBe(true);
      await hasEnded();
      expect(await carrier.lookup(carrierCallId)).toBe('gone');
      expect(await carrier.hangup(carrierCallId)).toBe(true);
      expect(await carrier.cancel('never-was')).toBe(true);
    },
  },
  {
    claims: '`redirect` is there if it is declared, and then a live call asks at the new address',
    async run(kit) {
      const carrier = whole(kit);
      expect(carrier.redirect !== undefined, 'redirect').toBe(kit.declared.capabilities.redirect);
      if (carrier.redirect === undefined) return;
      const { carrierCallId, documentUrl, askedForDocument } = await kit.ongoingCall(carrier);
      expect(await carrier.redirect(carrierCallId, documentUrl)).toBe(true);
      await askedForDocument();
      expect(await carrier.redirect('never-was', documentUrl)).toBe(false);
    },
  },
  {
    claims: '`transfer` is there if it is declared, and then a live call is handed on',
    async run(kit) {
      const carrier = whole(kit);
      expect(carrier.transfer !== undefined, 'transfer').toBe(kit.declared.capabilities.transfer);
      if (carrier.transfer === undefined) return;
      const { carrierCallId, transferredTo } = await kit.ongoingCall(carrier);
      expect(await carrier.transfer(carrierCallId, '+14155550199')).toBe(true);
      expect(await transferredTo()).toBe('+14155550199');
      expect(await carrier.transfer('never-was', '+14155550199')).toBe(false);
    },
  },
  {
    claims: 'keys go out in the stream, by request, or not at all, as declared',
    async run(kit) {
      const carrier = whole(kit);
      const { digitsOut } = kit.declared.capabilities;
      for (const format of kit.declared.formats) {
        const message = codecOf(kit, format).digitsMessage?.('1A#');
        expect(message !== undefined, 'digitsMessage').toBe(digitsOut === 'stream');
      }
      expect(carrier.sendDigits !== undefined, 'sendDigits').toBe(digitsOut === 'request');
      if (carrier.sendDigits === undefined) return;
      const { carrierCallId, keysPressed } = await kit.ongoingCall(carrier);
      expect(await carrier.sendDigits(carrierCallId, '1A#')).toBe(true);
      expect(await keysPressed()).toBe('1A#');
    },
  },
  {
    claims: 'it tells a machine from a person if it declares that',
    run(kit) {
      expect(kit.machineParams !== null, 'machineParams of the kit').toBe(kit.declared.capabilities.machineDetection);
      if (kit.machineParams === null) return;
      const event = whole(kit).parseCallback('answer', kit.signed('answer', kit.machineParams));
      expect(event).toMatchObject({ type: 'machine', answeredBy: 'machine' });
    },
  },
  {
    claims: 'calls come in if it declares that',
    run(kit) {
      const carrier = whole(kit);
      expect(carrier.parseIncoming !== undefined, 'parseIncoming').toBe(kit.declared.capabilities.inbound);
      expect(kit.incomingParams !== null, 'incomingParams of the kit').toBe(kit.declared.capabilities.inbound);
      if (carrier.parseIncoming === undefined || kit.incomingParams === null) return;
      expect(carrier.parseIncoming(kit.signed('answer', kit.incomingParams))?.from).toMatch(/^\+\d+$/);
      expect(carrier.parseIncoming(kit.signed('answer', {}))).toBeNull();
    },
  },
];

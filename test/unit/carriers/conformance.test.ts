import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CARRIER_NAMES, type CarrierName } from '../../../media/contract/carriers.ts';
import type { MediaCodec } from '../../../media/io/carriers/media-codec.ts';
import { CARRIER_FACTORIES } from '../../../src/carriers/carriers.ts';
import { CARRIER_CHECKS, type CarrierKit } from './carrier-conformance.ts';
import { openPlivoKit } from './plivo/plivo-kit.ts';

type Opened = { kit: CarrierKit; close(): Promise<void> };

/** A carrier in the list without a kit does not compile. */
const KITS: Record<CarrierName, () => Promise<Opened>> = { plivo: openPlivoKit };

let opened: Opened;

describe.each(CARRIER_NAMES)('%s', (name) => {
  beforeEach(async () => {
    opened = await KITS[name]();
  });
  afterEach(() => opened.close());

  it.each(CARRIER_CHECKS)('$claims', async ({ run }) => {
    await run(opened.kit);
    expect(CARRIER_FACTORIES[name]({}, { apiBase: null }).name).toBe(name);
  });
});

/** Its stream has no message for keys. */
function withoutDigits(codec: MediaCodec): MediaCodec {
  return {
    decode: (message, isBinary) => codec.decode(message, isBinary),
    audioMessage: (frames, start, lengthBytes) => codec.audioMessage(frames, start, lengthBytes),
    checkpointMessage: (name) => codec.checkpointMessage(name),
    clearMessage: () => codec.clearMessage(),
  };
}

describe('the suite', () => {
  beforeEach(async () => {
    opened = await openPlivoKit();
  });
  afterEach(() => opened.close());

  /** Names of the checks that a kit does not pass. */
  async function failed(kit: CarrierKit): Promise<string[]> {
    const found: string[] = [];
    for (const { claims, run } of CARRIER_CHECKS) {
      await Promise.resolve()
        .then(() => run(kit))
        .catch(() => found.push(claims));
    }
    return found;
  }

  it('lets a carrier pass that can all that there is, and says so', async () => {
    const { kit } = opened;
    let handedTo = '';
    let pressed = '';
    const gifted: CarrierKit = {
      ...kit,
      declared: {
        ...kit.declared,
        capabilities: {
          redirect: true,
          transfer: true,
          machineDetection: true,
          digitsOut: 'request',
          inbound: true,
        },
      },
      make(credentials) {
        const carrier = kit.make(credentials);
        return {
          ...carrier,
          async transfer(carrierCallId, to) {
            handedTo = to;
            return carrierCallId !== 'never-was';
          },
          async sendDigits(_carrierCallId, digits) {
            pressed = digits;
            return true;
          },
          parseCallback: (kind, request) =>
            request.params['machine'] === 'yes'
              ? { type: 'machine', carrierCallId: 'c', answeredBy: 'machine' }
              : carrier.parseCallback(kind, request),
          parseIncoming: ({ params: { from } }) =>
            from === undefined ? null : { carrierCallId: 'c', from, to: '+15550100000' },
        };
      },
      codecs(settings) {
        const factory = kit.codecs(settings);
        return { ...factory, create: (format, events) => withoutDigits(factory.create(format, events)) };
      },
      async ongoingCall(carrier) {
        const live = await kit.ongoingCall(carrier);
        return { ...live, transferredTo: async () => handedTo, keysPressed: async () => pressed };
      },
      machineParams: { machine: 'yes' },
      incomingParams: { from: '+15550100009' },
    };
    expect(await failed(gifted)).toEqual([]);
  });

  it('finds what a carrier declares and has not, and what it has and does not declare', async () => {
    const { kit } = opened;
    const { capabilities } = kit.declared;
    const boasting: CarrierKit = {
      ...kit,
      declared: {
        ...kit.declared,
        formats: [{ codec: 'pcm_s16le', rateHz: 24000 }],
        credentials: [{ name: 'apiKey', about: 'its key', secret: true }],
        capabilities: {
          ...capabilities,
          redirect: false,
          transfer: true,
          machineDetection: true,
          digitsOut: 'request',
          inbound: true,
        },
      },
    };
    expect(await failed(boasting)).toEqual([
      'it wants the credentials that it declares, each of them, and no others',
      'its answer document opens the stream in each format that it declares, and in no other',
      'its codec reads what its emulator sends: one start, then all that the callee said, and nothing else',
      '`redirect` is there if it is declared, and then a live call asks at the new address',
      '`transfer` is there if it is declared, and then a live call is handed on',
      'keys go out in the stream, by request, or not at all, as declared',
      'it tells a machine from a person if it declares that',
      'calls come in if it declares that',
    ]);
  });

  it('finds a carrier that does less than it says', async () => {
    const { kit } = opened;
    const lazy: CarrierKit = {
      ...kit,
      make: (credentials) => ({
        ...kit.make(credentials),
        name: 'other',
        verifyCallback: () => true,
        signatureOf: () => 'always the same',
        hangup: async () => false,
        redirect: async () => true,
        parseCallback: () => {
          throw new Error('not for me');
        },
        answerDocument(stream) {
          const { contentType, body } = kit.make(credentials).answerDocument(stream);
          return { contentType, body: body.replace(/<Redirect.*<\/Redirect>/s, '') };
        },
      }),
      codecs(settings) {
        const factory = kit.codecs(settings);
        return {
          ...factory,
          // Half of each frame is not told.
          create: (format, events) =>
            factory.create(format, {
              ...events,
              audio: (bytes, start, lengthBytes, timestampMs) =>
                events.audio(bytes, start, lengthBytes / 2, timestampMs),
            }),
        };
      },
    };
    expect(
      await failed({
        ...lazy,
        ongoingCall: async (carrier) => ({
          ...(await kit.ongoingCall(carrier)),
          askedForDocument: () => Promise.reject(new Error('nobody asked')),
        }),
      }),
    ).toEqual([
      'it has the name of the list, on both sides',
      'its codec reads what its emulator sends: one start, then all that the callee said, and nothing else',
      'when the stream is lost and the call is not, the carrier asks for what is next',
      'a callback counts with its signature only; a copy has the same one, and the next request another',
      'any callback can be read',
      'a live call is found, hung up, and then gone; what is over counts as ended',
      '`redirect` is there if it is declared, and then a live call asks at the new address',
    ]);
  });
});

/**
 * Seeded mutations of carrier messages and of the WebSocket frames around them. The same seed gives the same million.
 */
import { createRandom } from '../../../bench/harness/seeded-random.ts';

export const CARRIER_MESSAGES: readonly string[] = [
  '{"event":"start","sequenceNumber":1,"start":{"callId":"CALL","streamId":"S1","accountId":"MA","tracks":["inbound"],"mediaFormat":{"encoding":"audio/x-mulaw","sampleRate":8000}},"extra_headers":"{a: b}"}',
  `{"event":"media","sequenceNumber":2,"streamId":"S1","media":{"track":"inbound","timestamp":"1700000000123","chunk":1,"payload":"${'/38A'.repeat(54)}"},"extra_headers":""}`,
  '{"event":"dtmf","sequenceNumber":9,"streamId":"S1","dtmf":{"track":"inbound","digit":"5","timestamp":"1"},"extra_headers":""}',
  '{"event":"playedStream","sequenceNumber":12,"streamId":"S1","name":"g1-17"}',
  '{"event":"clearedAudio","sequenceNumber":0,"streamId":"S1"}',
  '{"event":"stop","sequenceNumber":13,"streamId":"S1"}',
];

/** What a page may say; `CALL` has no meaning here. */
export const LIVE_MESSAGES: readonly string[] = [
  '{"type":"session.start","protocol":"1","audio":{"input":{"codec":"opus","sampleRate":48000,"frameMs":20},"output":{"codec":"opus","sampleRate":48000}},"name":"Asha","metadata":{"page":"/pricing"},"client":{"sdk":"embed.js"},"bufferMs":200}',
  '{"type":"session.start","audio":{"input":[{"codec":"pcm_s16le","sampleRate":48000}],"output":{"codec":"mulaw","sampleRate":8000}}}',
  '{"type":"session.resume","resumeToken":"r.x","lastOrdinal":13}',
  '{"type":"audio.mute","muted":true}',
  '{"type":"user.text","text":"My email is \u00e9","interrupt":true}',
  '{"type":"context.update","text":"Visitor opened the cart"}',
  '{"type":"tool.result","toolCallId":"c2","result":{"ok":true}}',
  '{"type":"dtmf","digits":"12#"}',
  '{"type":"playback.position","utteranceId":"u1","playedMs":1240}',
  '{"type":"interrupt"}',
  '{"type":"ping","id":17,"clientTime":1763686801001}',
  '{"type":"pong","id":1}',
  '{"type":"from.the.future","x":[[[[]]]]}',
  '\u00fc\u0001\u0002\u0003 no JSON at all, for the binary frames that it becomes',
];

const TOKENS = [
  '"',
  '\\',
  '{',
  '}',
  '[',
  '\0',
  '\u00ff',
  '":"',
  'null',
  '-1',
  '1e999',
  '99999999999999999999',
  '"payload":"',
  '=',
  '"event":"media"',
];

export interface Mutator {
  /** One message's bytes: a member of the corpus, changed in up to six places; now and then untouched. */
  message(): Buffer;
  /** A masked client frame around `payload`; one in fifty breaks the framing itself. */
  frame(payload: Buffer): Buffer;
  /** The same, never broken; at most 125 bytes. */
  whole(text: Buffer): Buffer;
}

export interface MutatorOptions {
  messages?: readonly string[];
  /** Of whole frames, how many are binary. */
  binaryShare?: number;
}

export function createMutator(seed: number, callId: string, options: MutatorOptions = {}): Mutator {
  const { messages = CARRIER_MESSAGES, binaryShare = 0.1 } = options;
  const random = createRandom(seed);
  const below = (limit: number): number => Math.floor(random() * limit);
  const corpus = messages.map((text) => Buffer.from(text.replace('CALL', callId), 'latin1'));

  const changes: ((bytes: Buffer) => Buffer)[] = [
    (bytes) => {
      const copy = Buffer.from(bytes);
      if (copy.length > 0) copy[below(copy.length)]! ^= 1 << below(8);
      return copy;
    },
    (bytes) => bytes.subarray(0, below(bytes.length + 1)),
    (bytes) => {
      const at = below(bytes.length + 1);
      return Buffer.concat([
        bytes.subarray(0, at),
        Buffer.from(TOKENS[below(TOKENS.length)]!, 'latin1'),
        bytes.subarray(at),
      ]);
    },
    (bytes) => {
      const from = below(bytes.length + 1);
      const to = from + below(Math.min(64, bytes.length - from + 1));
      return Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)]);
    },
    (bytes) => {
      const from = below(bytes.length + 1);
      const slice = bytes.subarray(from, from + below(64));
      return Buffer.concat([bytes.subarray(0, from), slice, slice, bytes.subarray(from)]);
    },
    (bytes) => Buffer.concat([bytes, corpus[below(corpus.length)]!]),
    () => Buffer.from(Array.from({ length: below(300) }, () => below(256))),
    (bytes) => Buffer.from(bytes.toString('latin1').replace(/\d+/, String(random() * 10 ** below(25))), 'latin1'),
  ];

  return {
    message() {
      let bytes: Buffer = corpus[below(corpus.length)]!;
      for (let left = below(7); left > 0; left--) bytes = changes[below(changes.length)]!(bytes).subarray(0, 4000);
      return bytes;
    },
    whole: (text) => Buffer.concat([Buffer.from([0x81, 0x80 | text.length]), Buffer.alloc(4), text]),
    frame(payload) {
      const isBroken = below(50) === 0;
      const first = isBroken ? below(256) : random() >= binaryShare ? 0x81 : 0x82;
      const length = isBroken && below(2) === 0 ? below(65_536) : payload.length;
      const masked = isBroken && below(4) === 0 ? 0 : 0x80;
      const header =
        length < 126
          ? Buffer.from([first, masked | length])
          : Buffer.from([first, masked | 126, length >> 8, length & 0xff]);
      // A mask of zeros leaves the payload as it is (RFC 6455 §5.3 allows any key).
      return Buffer.concat(masked ? [header, Buffer.alloc(4), payload] : [header, payload]);
    },
  };
}

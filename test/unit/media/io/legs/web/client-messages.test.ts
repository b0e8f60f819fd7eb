import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readClientMessage } from '../../../../../../media/io/legs/web/client-messages.ts';
import { MessageLog } from '../../../../../../media/io/legs/web/message-log.ts';
import { callOfResumeToken, isResumeTokenOf, resumeTokenOf } from '../../../../../../media/io/legs/web/resume-token.ts';
import { opusPacketMs } from '../../../../../../media/io/legs/web/web-uplink.ts';

const kindOf = (message: unknown) => readClientMessage(JSON.stringify(message)).kind;

/** As text: an object of so many levels cannot be written. */
const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

describe('a client’s text message', () => {
  it.each([
    ['tool.result', `"toolCallId":"tc_1","result":${nested(20_000)}`],
    ['session.start', `"metadata":{"page":${nested(20_000)}}`],
  ])('%s with a value of 20,000 levels is wrong, and nothing throws or goes on to another thread', (type, fields) => {
    expect(readClientMessage(`{"type":"${type}",${fields}}`).kind).toBe('wrong');
  });

  it('never throws, whatever it is', () => {
    const types = ['session.start', 'session.resume', 'user.text', 'dtmf', 'playback.position', 'ping', 'audio.mute'];
    fc.assert(
      fc.property(fc.string(), (text) => void readClientMessage(text)),
      { seed: 7, numRuns: 500 },
    );
    fc.assert(
      fc.property(fc.constantFrom(...types), fc.object({ maxDepth: 3 }), (type, fields) => {
        void readClientMessage(JSON.stringify({ ...fields, type }));
      }),
      { seed: 7, numRuns: 1_000 },
    );
  });

  it.each([
    [{ type: 'session.start', name: 'x'.repeat(121) }],
    [{ type: 'session.start', name: 'NUL \u0000' }],
    [{ type: 'session.start', name: '\ud800' }],
    [{ type: 'session.start', protocol: '2' }],
    [{ type: 'session.start', metadata: [] }],
    [{ type: 'session.start', metadata: { 'secret.key': 'x' } }],
    [{ type: 'session.start', metadata: { 'sys.now': 'x' } }],
    [{ type: 'session.start', metadata: { page: '\u0000' } }],
    [{ type: 'session.start', metadata: { page: 'x'.repeat(2_001) } }],
    [{ type: 'session.start', metadata: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`k${i}`, 1])) }],
    [{ type: 'session.start', bufferMs: -1 }],
    [{ type: 'user.text', text: '' }],
    [{ type: 'user.text', text: ' ' }],
    [{ type: 'user.text', text: 'x'.repeat(2_001) }],
    [{ type: 'dtmf', digits: '12x' }],
    [{ type: 'dtmf', digits: '1'.repeat(33) }],
    [{ type: 'playback.position', utteranceId: '1', playedMs: 1 }],
    [{ type: 'playback.position', utteranceId: 'u1', playedMs: -1 }],
    [{ type: 'playback.position', utteranceId: 'u1', playedMs: null }],
    [{ type: 'session.resume', lastOrdinal: 1.5 }],
    [{ type: 'audio.mute' }],
    [{ type: 'pong', id: '1' }],
  ])('%j is wrong, and says why', (message) => {
    const read = readClientMessage(JSON.stringify(message));
    expect(read.kind).toBe('wrong');
    expect(read.kind === 'wrong' ? read.why : '').toContain(message.type);
  });

  it('is read as the contract shows it', () => {
    for (const message of [
      { type: 'audio.mute', muted: true },
      { type: 'user.text', text: 'My email is …', interrupt: true },
      { type: 'context.update', text: 'Visitor opened the cart' },
      { type: 'tool.result', toolCallId: 'c2', result: { ok: true } },
      { type: 'dtmf', digits: '12#' },
      { type: 'playback.position', utteranceId: 'u7', playedMs: 1240 },
      { type: 'interrupt' },
      { type: 'ping', id: 17, clientTime: 1763686801001 },
      { type: 'session.resume', resumeToken: '…', lastOrdinal: 13 },
      { type: 'session.end', reason: 'user_hangup' },
    ]) {
      expect([message.type, kindOf(message)]).toEqual([message.type, 'message']);
    }
  });
});

describe('an Opus packet’s length by its first byte', () => {
  it.each([
    [[0x78], 20],
    [[0x08], 20],
    [[0x18], 60],
    [[0xe0], 2.5],
    [[0x79], 40],
    [[0x7b, 3], 60],
    [[0x7b, 7], 0],
    [[0x7b], 0],
    [[], 0],
  ])('%j sounds %d ms', (bytes, ms) => expect(opusPacketMs(Uint8Array.from(bytes))).toBe(ms));
});

describe('the log of messages', () => {
  it('replays what was missed, without interim words that were overtaken, and keeps at most 500', () => {
    const log = new MessageLog(4);
    log.add({ text: 'a' }, 't1');
    log.add({ text: 'ab' }, 't1');
    log.add({ text: 'x' }, null);
    expect(log.since(4).map((text) => JSON.parse(text))).toEqual([
      { text: 'ab', ordinal: 6 },
      { text: 'x', ordinal: 7 },
    ]);
    expect(log.since(7)).toEqual([]);
    for (let i = 0; i < 1_000; i++) log.add({ i }, null);
    expect(log.since(0)).toHaveLength(500);
  });
});

describe('a resume token', () => {
  const facts = { callUuid: '0199f0a2-6c1e-7b7a-9a58-3f6b6f0a2c11', epoch: 2, number: 3, keyHex: 'ab'.repeat(32) };

  it('is known by its own key, call, epoch and number alone', () => {
    const token = resumeTokenOf(facts);
    expect(isResumeTokenOf(token, facts)).toBe(true);
    expect(callOfResumeToken(token)).toBe(facts.callUuid);
    for (const change of [{ epoch: 3 }, { number: 4 }, { keyHex: 'cd'.repeat(32) }, { callUuid: 'x' }]) {
      expect(isResumeTokenOf(token, { ...facts, ...change })).toBe(false);
    }
    for (let at = 0; at < token.length; at++) {
      const flipped = token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1);
      expect(isResumeTokenOf(flipped, facts)).toBe(false);
    }
  });
});

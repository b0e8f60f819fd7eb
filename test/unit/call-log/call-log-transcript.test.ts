import { expect, it } from 'vitest';
import type { Turn } from '../../../media/contract/conversation.ts';
import { transcriptAsVtt } from '../../../src/call-log/call-log-transcript.ts';

const turn = (turnId: string, role: Turn['role'], startMs: number, endMs: number, heardText: string): Turn =>
  ({ turnId, role, startMs, endMs, text: 'not this', heardText, interrupted: false, words: [] }) as unknown as Turn;

it('has one cue a turn in the order of speech, with times to a ms beyond an hour, and only what was heard', () => {
  const turns = [
    turn('t3', 'user', 3_661_007, 3_662_000, 'Bye.'),
    turn('t1', 'agent', 210.4, 2_950, 'Hello\n\nthere'),
    turn('t2', 'user', 3_000, 3_000, 'a --> b <i>&'),
    turn('t4', 'agent', 4_000, 5_000, ' \u2028 '),
  ];
  expect(transcriptAsVtt(turns)).toBe(
    [
      'WEBVTT\n',
      't1\n00:00:00.210 --> 00:00:02.950\n<v Agent>Hello there\n',
      't2\n00:00:03.000 --> 00:00:03.001\n<v Customer>a --&gt; b &lt;i&gt;&amp;\n',
      't3\n01:01:01.007 --> 01:01:02.000\n<v Customer>Bye.\n',
    ].join('\n'),
  );
});

import { describe, expect, it } from 'vitest';
import type { ReplyStages, SoundMap, TurnLatency } from '../../../media/contract/conversation.ts';
import { summariseLatencies } from '../../../src/calls/latency-summary.ts';
import { turn } from './sample-turn.ts';

const TURNS = [
  turn('t1', 'agent', 0, 900),
  turn('t2', 'user', 1_500, 2_000),
  turn('t3', 'agent', 2_700, 4_000),
  turn('t4', 'user', 3_000, 3_200, 'backchannel'),
  turn('t5', 'user', 5_000, 6_000),
  turn('t6', 'agent', 6_900, 8_000),
];
const LATENCIES = [
  { turnId: 't3', eouMs: 300, sttMs: 350, ttsMs: 500, agentMs: 620 },
  { turnId: 't6', eouMs: 310, sttMs: 300, ttsMs: 600, agentMs: 700 },
];
const SOUND: SoundMap = {
  durationMs: 9_000,
  callerFloorDbfs: -60,
  caller: [
    { startMs: 1_500, endMs: 1_960, peakDbfs: -12 },
    { startMs: 5_000, endMs: 6_050, peakDbfs: -12 },
  ],
  agent: [
    { startMs: 20, endMs: 900, peakDbfs: -12 },
    { startMs: 2_720, endMs: 4_000, peakDbfs: -12 },
    { startMs: 6_930, endMs: 8_000, peakDbfs: -12 },
  ],
};

const STAGES: ReplyStages = {
  speechEndAtMs: 1_990,
  decidedMs: 300,
  finalWordsMs: 350,
  askedMs: 210,
  firstTokenMs: 330,
  firstClauseMs: 352,
  firstAudioMs: 500,
  ringMs: 502,
  firstFrameMs: 504,
  listen: { provider: 'deepgram', connection: 'ears', model: 'nova-3' },
  think: { provider: 'openai', connection: 'brain', model: 'mini' },
  speak: null,
};

describe('the latency of a call', () => {
  it('keeps each reply step by step, with when the far end played it, by the transcript', () => {
    const [first, second] = LATENCIES as [TurnLatency, TurnLatency];
    const summary = summariseLatencies([{ ...first, stages: STAGES }, second], TURNS);
    expect(summary?.['turns']).toMatchObject([{ steps: { ...STAGES, firstPlayedMs: 710 } }, { steps: null }]);
    expect(summariseLatencies([{ ...first, stages: STAGES }], [])?.['turns']).toMatchObject([
      { steps: { firstPlayedMs: null } },
    ]);
  });

  it('has stages that add up to when the far end played the reply, by the pipeline while there is no recording', () => {
    expect(summariseLatencies(LATENCIES, TURNS)).toMatchObject({
      method: 'pipeline',
      mouthToEarMs: { p50: 700, max: 900, count: 2 },
      eouMs: { max: 310 },
      sttMs: { max: 50 },
      transportMs: { p50: 200, max: 300 },
      turns: [
        {
          turnId: 't3',
          eouMs: 300,
          sttMs: 50,
          ttsMs: 150,
          transportMs: 200,
          stagesMs: 700,
          agentMs: 620,
          mouthToEarMs: null,
        },
        // The words were there before it was decided that the turn was over.
        { turnId: 't6', eouMs: 310, sttMs: 0, ttsMs: 300, transportMs: 300, stagesMs: 900, mouthToEarMs: null },
      ],
    });
  });

  it('has the waveform’s own answer with a recording, and how far the two are apart', () => {
    expect(summariseLatencies(LATENCIES, TURNS, SOUND)).toMatchObject({
      method: 'waveform',
      mouthToEarMs: { p50: 760, max: 880, count: 2 },
      differenceMs: { p50: -20, max: 60 },
      longestSilenceMs: 1_000,
      turns: [
        { mouthToEarMs: 760, differenceMs: 60 },
        { mouthToEarMs: 880, differenceMs: -20 },
      ],
    });
  });

  it('stays the pipeline’s where the recording holds no such sound, and counts only what has a value', () => {
    expect(summariseLatencies(LATENCIES, TURNS, { ...SOUND, caller: [] })).toMatchObject({ method: 'pipeline' });
    const one = summariseLatencies(LATENCIES, TURNS, { ...SOUND, caller: SOUND.caller.slice(0, 1) });
    expect(one).toMatchObject({ method: 'waveform', mouthToEarMs: { count: 1 } });
  });

  it('has no transport for a reply whose turns are not known, and is null without replies', () => {
    expect(summariseLatencies(LATENCIES, [])).toMatchObject({
      mouthToEarMs: null,
      turns: [{ transportMs: null, stagesMs: null }, {}],
    });
    expect(summariseLatencies([], TURNS, SOUND)).toBeNull();
  });
});

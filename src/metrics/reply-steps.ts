/**
 * What a reply's steps are in the histogram of replies: how long each provider took, and the whole. Pure; what it gives
 * is observed by `control-metrics.ts`.
 */
import type { ReplyStages, ServedBy } from '../../media/contract/conversation.ts';

interface ReplyStep {
  /** A closed set. */
  stage: 'final_words' | 'first_token' | 'first_audio' | 'reply';
  provider: string;
  model: string;
  seconds: number;
}

/** Where nobody has served, or has no name. */
const NONE = 'none';

export function replySteps(stages: ReplyStages): ReplyStep[] {
  const { finalWordsMs, askedMs, firstTokenMs, firstClauseMs, firstAudioMs, firstFrameMs, listen, think, speak } =
    stages;
  return [
    ...step('final_words', listen, listen === null ? null : finalWordsMs),
    ...step('first_token', think, between(askedMs, firstTokenMs)),
    ...step('first_audio', speak, between(firstClauseMs, firstAudioMs)),
    // By who has thought of it: a reply that nobody thought of is a script's.
    ...step('reply', think, firstFrameMs),
  ];
}

function between(fromMs: number | null, toMs: number | null): number | null {
  return fromMs === null || toMs === null ? null : toMs - fromMs;
}

function step(stage: ReplyStep['stage'], served: ServedBy | null, ms: number | null): ReplyStep[] {
  if (ms === null) return [];
  const { provider, model } = served ?? { provider: NONE, model: NONE };
  return [{ stage, provider, model: model ?? NONE, seconds: Math.max(0, ms) / 1000 }];
}

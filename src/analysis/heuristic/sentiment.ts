/** How the caller sounded in words: a handful of telling ones, with what turns them round. Pure; of English only. */
import type { Turn } from '../../../media/contract/conversation.ts';
import type { Sentiment } from '../../calls/findings.ts';
import { spokenWords } from './cues.ts';

const GOOD: readonly [RegExp, number][] = [
  [/\b(great|perfect|wonderful|lovely|awesome|excellent|fantastic|amazing|brilliant)\b/g, 1],
  [/\b(glad|happy|pleased|delighted|appreciate|helpful|love)\b/g, 1],
  [/\b(thank you|thanks|cheers)\b/g, 0.5],
  [/^(yes please|of course|absolutely|sure|sounds good)\b/g, 0.5],
];
const BAD: readonly [RegExp, number][] = [
  [/\b(angry|annoyed|annoying|upset|furious|disappointed|frustrated|frustrating|unhappy|sick of|tired of)\b/g, 1],
  [/\b(terrible|awful|horrible|worst|ridiculous|useless|stupid|unacceptable|rude|nonsense|joke)\b/g, 1],
  [/\b(hate|scam|spam|fraud|complain|complaint|waste of)\b/g, 1],
  [/\b(stop|quit) (calling|phoning|ringing)\b|\bleave me alone\b|\bhow dare\b/g, 1.5],
];
/** Politeness, not joy. */
const FORMULAS = /\bno,? thank(s| you)\b/g;
const TURNED = /\b(not|never|no|isn't|wasn't|don't|hardly)\b( \w+){0,2} $/;
const LEAST = 1;

export function findSentiment(turns: readonly Turn[]): Sentiment {
  let score = 0;
  for (const turn of turns) {
    if (turn.role !== 'user' || turn.kind === 'backchannel') continue;
    const words = spokenWords(turn.heardText).replace(FORMULAS, '');
    for (const [pattern, weight] of GOOD) score += weight * countOf(words, pattern);
    for (const [pattern, weight] of BAD) score -= weight * countOf(words, pattern);
  }
  if (score >= LEAST) return 'positive';
  return score <= -LEAST ? 'negative' : 'neutral';
}

/** A turned one ("not happy") counts the other way. */
function countOf(words: string, pattern: RegExp): number {
  let count = 0;
  for (const match of words.matchAll(pattern)) count += TURNED.test(words.slice(0, match.index)) ? -1 : 1;
  return count;
}

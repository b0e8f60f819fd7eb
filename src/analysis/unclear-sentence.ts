/**
 * What a summary says of speech that nobody understood: when it was, so that somebody can listen, and whose doing it
 * was. Pure.
 */
import { BOUNDS, shortSummary } from '../calls/findings.ts';
import type { CallStory } from './call-story.ts';

const MOST_TIMES = 8;

type Spoken = Pick<CallStory, 'turns' | 'hasScript' | 'lostRecogniser'>;

/** Without a full stop; null where all was understood. */
export function unclearClause({ turns, hasScript, lostRecogniser }: Spoken): string | null {
  const times = turns.filter((turn) => turn.unclear !== undefined).map((turn) => clockOf(turn.startMs));
  if (times.length === 0) return null;
  const more = times.length > MOST_TIMES ? ` and ${times.length - MOST_TIMES} more` : '';
  const what = lostRecogniser
    ? 'could not be recognised, because the recogniser failed'
    : hasScript
      ? 'the script did not expect'
      : 'were not understood';
  return `the caller said things that ${what} (at ${times.slice(0, MOST_TIMES).join(', ')}${more})`;
}

/** A model's summary, and after it what no model is asked about. */
export function withUnclear(summary: string, story: Spoken): string {
  const clause = unclearClause(story);
  if (clause === null) return summary;
  const sentence = `T${clause.slice(1)}.`;
  const room = BOUNDS.summaryCharacters - sentence.length - 1;
  return `${shortSummary(summary, BOUNDS.summarySentences - 1, room)} ${sentence}`;
}

/** 75,400 ms is 1:15: minutes and seconds of the recording. */
function clockOf(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

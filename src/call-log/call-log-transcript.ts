/**
 * A transcript as subtitles. Pure; called by the API and the command line. Only what was heard,
 * like every text of a conversation.
 */
import type { Turn } from '../../media/contract/conversation.ts';

const SPEAKERS: Record<Turn['role'], string> = { agent: 'Agent', user: 'Customer' };

/** WebVTT (W3C), one cue a turn, in ms of the media stream, which is where the recording begins too. */
export function transcriptAsVtt(turns: readonly Turn[]): string {
  const cues = turns
    .map((turn) => ({ turn, heard: turn.heardText.replace(/[\p{Cc}\u2028\u2029\s]+/gu, ' ').trim() }))
    .filter(({ heard }) => heard !== '')
    .toSorted((a, b) => a.turn.startMs - b.turn.startMs)
    .map(({ turn, heard }) => {
      // A cue has to end after its begin.
      const endMs = Math.max(turn.endMs, turn.startMs + 1);
      return `${turn.turnId}\n${timeText(turn.startMs)} --> ${timeText(endMs)}\n<v ${SPEAKERS[turn.role]}>${escaped(heard)}\n`;
    });
  return ['WEBVTT\n', ...cues].join('\n');
}

function timeText(ms: number): string {
  const whole = Math.max(0, Math.round(ms));
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0');
  return `${two(whole / 3_600_000)}:${two((whole / 60_000) % 60)}:${two((whole / 1000) % 60)}.${String(whole % 1000).padStart(3, '0')}`;
}

/** `-->` would look like a cue's times, `<` like a tag. */
function escaped(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}

/** What a successor of a conversing agent needs, as it lies in the checkpoint: version 1. */
import type { Ending } from './farewell.ts';
import type { Entry } from './history.ts';
import { speakable } from './speakable.ts';
import type { OpenUse } from './tool-round.ts';

export interface CascadeState {
  entries: Entry[];
  open: OpenUse[];
  rounds: number;
  numbered: number;
  /** The last entry of the agent's own is being said, and is all of its answer. */
  isSaying: boolean;
  /** The caller waits for an answer that is not there yet. */
  isThinking: boolean;
  ending: Ending | null;
  tokens: number;
  costUsd: number;
  /** Of lists that are said in turn. */
  turns: number;
}

export const NOTHING_KEPT: CascadeState = Object.freeze({
  entries: [],
  open: [],
  rounds: 0,
  numbered: 0,
  isSaying: false,
  isThinking: false,
  ending: null,
  tokens: 0,
  costUsd: 0,
  turns: 0,
});

/** What was said when a thread died, split where its cut sentence begins: that one is said again. */
export function splitAtSentence(text: string, heardChars: number): { heard: string; again: string } {
  let begin = 0;
  for (const match of text.matchAll(/[.!?。！？]+["')\]]*\s+/gu)) {
    const end = match.index + match[0].length;
    if (end > heardChars) break;
    begin = end;
  }
  const isOver = text.slice(heardChars).trim() === '';
  return isOver ? { heard: text, again: '' } : { heard: text.slice(0, begin), again: text.slice(begin) };
}

export function spokenText(written: string, language: string): string {
  return speakable(written, language)
    .map(({ spoken }) => spoken)
    .join('');
}

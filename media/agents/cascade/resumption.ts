/**
 * How a conversing agent goes on where another died: what it kept (version 1 of the state in the checkpoint), and what
 * of the words that were open then counts as heard. The cut sentence is said again, nothing before it. Pure.
 */
import { BRIDGE } from '../../contract/agent.ts';
import type { CascadeAgent } from '../../contract/agent-definition.ts';
import type { Ending } from './farewell.ts';
import { assistantEntry, type Entry, type History } from './history.ts';
import { firstMessageOf, type Values } from './prompt.ts';
import { spokenText } from './speakable.ts';
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

/** What was being said when a thread died, as far as it was known, and what of it was heard. */
export interface Cut {
  text: string;
  heardText: string;
}

/** It died before anything was kept: with its first words in the mouth, if it has any. */
export function nothingKept(definition: CascadeAgent, values: Values): CascadeState {
  const text = firstMessageOf(definition, values);
  return {
    entries: text === null ? [] : [assistantEntry(text)],
    open: [],
    rounds: 0,
    numbered: 0,
    isSaying: text !== null,
    isThinking: text === null && definition.speaksFirst !== 'caller',
    ending: null,
    tokens: 0,
    costUsd: 0,
    turns: 0,
  };
}

/**
 * `history`, already that of `state`, gets what was heard. `again`: to be said once more. `isTorn`: the rest of the
 * answer died with the thread. `cut` null: nobody knows, or nothing was being said.
 */
export function repair(
  history: History,
  state: CascadeState,
  cut: Cut | null,
  language: string,
): { again: string; isTorn: boolean } {
  const last = history.entries.at(-1);
  const open = last?.type === 'assistant' && last.heard === null ? last : null;
  if (cut !== null && cut.text !== '') {
    const text = withoutBridge(cut.text);
    const isWhole = open !== null && state.isSaying && isBeginning(text, spokenText(open.text, language));
    const entry = open ?? history.assistant(text);
    if (!isWhole) entry.text = text;
    const spoken = isWhole ? spokenText(entry.text, language) : text;
    const { heard, again } = splitAtSentence(spoken, withoutBridge(cut.heardText).length);
    entry.heard = heard;
    return { again, isTorn: !isWhole && state.isThinking };
  }
  if (open === null) return { again: '', isTorn: false };
  // The last sentence alone, if all of it was known.
  const text = open.text.trim();
  const { heard, again } = state.isSaying ? splitAtSentence(text, text.length - 1) : { heard: '', again: '' };
  open.heard = heard;
  return { again, isTorn: false };
}

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

function isBeginning(part: string, whole: string): boolean {
  return whole.startsWith(part.trim()) || part.trim().startsWith(whole.trim());
}

function withoutBridge(text: string): string {
  return text.startsWith(BRIDGE) ? text.slice(BRIDGE.length).trimStart() : text;
}

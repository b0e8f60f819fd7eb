/**
 * A call with sound as a test judges it: of the call log's entry, and of what the callee and the tools' endpoint know.
 * Pure; called by `audio-holder.ts`.
 */
import type { Call } from '../../clients/typescript/src/client.ts';
import type { EmulatedCall } from '../harness/emulator-process.ts';
import type { NotedUse } from './audio-tools.ts';
import type { HeldCall, HeldTurn } from './held-call.ts';

/** Clocks of both ends begin within this. */
const APART_MS = 500;

const NUMBERS_HINT = '; an emulated recogniser knows numbers as words alone: write "one two three" for 123';

export function heldFrom(
  entry: Call,
  said: EmulatedCall['said'],
  used: readonly NotedUse[],
  states: HeldCall['states'],
): HeldCall {
  const turns = entry.turns.map((turn): HeldTurn => {
    const isCaller = turn.role === 'user';
    // What the caller said began before they were heard; what the agent says before that answers somebody else.
    const exchange = said.filter(({ startMs }) => startMs <= turn.startMs + (isCaller ? APART_MS : 0)).length;
    const own = { text: turn.heardText, exchange, atMs: turn.startMs };
    if (isCaller) return { ...own, who: 'caller' };
    return { ...own, who: 'agent', ...(turn.interrupted ? { cutOf: turn.text } : {}) };
  });
  const tools = used.map(({ atEpochMs, ...use }) => ({
    ...use,
    exchange: said.filter(({ startAtEpochMs }) => startAtEpochMs <= atEpochMs).length,
  }));
  const misheard = said.flatMap(({ text }, index) => {
    const heard = turns.filter(({ who, exchange }) => who === 'caller' && exchange === index + 1);
    const words = heard.map((turn) => turn.text).join(' ');
    if (plain(words) === plain(text)) return [];
    const isOfDigits = /\d/.test(text) && !/\d/.test(words);
    return [`the caller said "${text}" and was heard as "${words}"${isOfDigits ? NUMBERS_HINT : ''}`];
  });
  return {
    turns: turns.sort((one, other) => one.exchange - other.exchange),
    tools,
    states,
    end:
      entry.endedReason === null
        ? null
        : { reason: entry.endedReason, disposition: entry.disposition, error: entry.error?.message ?? null },
    warnings: [...misheard, ...entry.warnings.map((warning) => JSON.stringify(warning))],
    fault: null,
    durationMs: (entry.durationSeconds ?? 0) * 1_000,
  };
}

const plain = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, ' ')
    .trim();

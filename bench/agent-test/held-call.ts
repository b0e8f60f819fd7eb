/**
 * What a test call was: who said what, which tools were used, where it stood, how it ended. Made by `text-call.ts` and
 * `audio-call.ts` alike, judged by `check-reply.ts`, kept in the record of a failure. Types and small readers, pure.
 */
import type { ToolAnswer } from '../../media/contract/tools.ts';

export interface HeldTurn {
  who: 'caller' | 'agent';
  /** What was heard of it. */
  text: string;
  /** It was cut: what it would have been, as far as it was known. */
  cutOf?: string;
  /** The caller's turn that it follows, from 1 on; 0: before the first. */
  exchange: number;
  atMs: number;
}

export interface HeldToolUse {
  name: string;
  arguments: Record<string, unknown>;
  answer: ToolAnswer | null;
  exchange: number;
}

export interface HeldCall {
  turns: HeldTurn[];
  tools: HeldToolUse[];
  /** After each exchange, by its number. */
  states: { step: string | null; variables: Record<string, string> }[];
  end: { reason: string; disposition: string | null; error: string | null } | null;
  /** Of the agent's, and what the text call noticed: trouble on the way. */
  warnings: string[];
  /** Why it could not be held to its end; null: it was. */
  fault: string | null;
  durationMs: number;
  /** An Ogg Opus file of it, where it had sound. */
  recording?: Buffer;
}

export function emptyCall(): HeldCall {
  return { turns: [], tools: [], states: [], end: null, warnings: [], fault: null, durationMs: 0 };
}

/** All that the agent said in an exchange; null: in the whole call. */
export function agentWords({ turns }: HeldCall, exchange: number | null): string {
  const own = turns.filter((turn) => turn.who === 'agent' && (exchange === null || turn.exchange === exchange));
  return own.map(({ text }) => text).join(' ');
}

/** What the agent has done since the caller's last turn, of a call that did not end. */
export function endlessOf({ turns }: HeldCall, exchange: number): string {
  const own = turns.filter((turn) => turn.who === 'agent' && turn.exchange === exchange);
  const since = exchange === 0 ? 'since it began' : "since the caller's last turn";
  const last = own.at(-1);
  if (last === undefined) return `the agent said nothing ${since} and did not end the call`;
  const times = own.length === 1 ? 'once' : `${own.length} times`;
  const words = JSON.stringify(oneLine(last.text).slice(0, 80));
  return `the agent spoke ${times} ${since} (last ${words}) and did not end the call`;
}

/** For people, and for the judge. */
export function transcriptLines({ turns, tools }: HeldCall, exchange: number | null = null): string[] {
  const last = Math.max(0, ...turns.map((turn) => turn.exchange), ...tools.map((use) => use.exchange));
  const lines: string[] = [];
  for (let at = 0; at <= last; at++) {
    if (exchange !== null && at > exchange) break;
    const own = turns.filter((turn) => turn.exchange === at);
    const said = own.map(
      ({ who, text, cutOf }) => `${who}: ${oneLine(text)}${cutOf === undefined ? '' : ' [cut off]'}`,
    );
    const used = tools.filter((use) => use.exchange === at).map(toolLine);
    // What the caller said stands first; the tools are what came of it.
    const spoken = own[0]?.who === 'caller' ? 1 : 0;
    lines.push(...said.slice(0, spoken), ...used, ...said.slice(spoken));
  }
  return lines;
}

/** A line that was said is no line of somebody else. */
const oneLine = (text: string): string => text.replace(/\s*[\p{Zl}\p{Zp}\p{Cc}]+\s*/gu, ' ');

export function toolLine({ name, arguments: args, answer }: HeldToolUse): string {
  const result =
    answer === null ? 'no answer' : answer.ok ? JSON.stringify(answer.result) : `${answer.code}: ${answer.message}`;
  return `tool: ${name}(${JSON.stringify(args)}) → ${result}`;
}

/**
 * Judges the transcript of one conversation of `conversation-agent.ts` that a death may have fallen into: all that the
 * agent began to say is a turn, in order and once; each answer is there and in order, none that the callee did not
 * give, and given again only where it was asked again. Pure; it knows nothing of who died when.
 */
import type { Call } from '../../../clients/typescript/src/client.ts';
import { ASKED_AGAIN } from './conversation-agent.ts';

export interface TranscriptExpectation {
  /** Of the answers, in order. */
  intents: readonly string[];
  /** Turns of the agent of which something was played, by the call's events. */
  agentBegan: readonly string[];
  /** How often the callee spoke, as its own side counted. */
  spoken: number;
  /** What a death may cost: an answer that fell into the gap is asked for, and heard, once more. */
  deaths: number;
}

/** In words; empty when the transcript is whole. */
export function faultsIn(turns: Call['turns'], expected: TranscriptExpectation): string[] {
  const { intents, agentBegan, spoken, deaths } = expected;
  const faults: string[] = [];
  const ids = turns.map(({ turnId }) => turnId);
  // A number that is nowhere was a sound of the callee's that came to nothing.
  const isInOrder = ids.every((id, at) => Number(id.slice(1)) > Number((ids[at - 1] ?? 't0').slice(1)));
  if (!isInOrder) faults.push(`has the turns ${ids.join(' ')}`);
  const missing = agentBegan.filter((id) => !ids.includes(id));
  if (missing.length > 0) faults.push(`has not what the agent said as ${missing.join(' ')}`);

  const answers = turns.flatMap(({ intent }, at) =>
    intent === undefined || intent === ASKED_AGAIN ? [] : [{ intent, at }],
  );
  const given = answers.map(({ intent }) => intent);
  const repeated = answers.filter(({ intent }, at) => intent === answers[at - 1]?.intent);
  const once = given.filter((intent, at) => intent !== given[at - 1]);
  if (once.join(' ') !== intents.join(' ')) faults.push(`has the intents ${given.join(' ')}`);
  if (repeated.length > deaths) faults.push(`has ${repeated.length} answers twice, after ${deaths} deaths`);
  for (const { intent, at } of repeated) {
    const before = answers[answers.findIndex((one) => one.at === at) - 1]!.at;
    const wasAskedAgain = turns.slice(before + 1, at).some(({ role }) => role === 'agent');
    if (!wasAskedAgain) faults.push(`has "${intent}" twice, and was not asked twice`);
  }
  if (answers.length > spoken) faults.push(`has ${answers.length} answers of a callee who spoke ${spoken} times`);

  // A caller's turn that was not understood has none.
  const wordless = turns.filter(({ role, text, intent }) => text === '' && (role === 'agent' || intent !== undefined));
  if (wordless.length > 0) faults.push(`has turns without words: ${wordless.map(({ turnId }) => turnId).join(' ')}`);
  return faults;
}

/**
 * Reads a call without a language model: what the script understood, how it ended, and a small lexicon of what people
 * say. It says so in `model`. Pure and fast (well under a millisecond for a long call), so it
 * also stands in when a model fails.
 */

import { BOUNDS, type Evidence, type Findings, plainLine, wellFormed } from '../../calls/findings.ts';
import type { CallStory } from '../call-story.ts';
import { boundedData, choicesOf, fitProperties } from '../data-schema.ts';
import { spokenWords } from './cues.ts';
import { findIntent, type IntentFound } from './intent.ts';
import { findSentiment } from './sentiment.ts';
import { judgeSuccess } from './success.ts';
import { summarise } from './summary.ts';

export const HEURISTIC_MODEL = 'parley-heuristic-1';
const MOST_EVIDENCE = 3;

export interface Reading {
  findings: Findings;
  /** Values of the script that do not fit the agent's schema, by name. */
  dropped: string[];
}

export function readByHeuristic(story: CallStory): Reading {
  const understood = { ...story, turns: story.turns.filter((turn) => turn.unclear === undefined) };
  const found = findIntent(understood);
  const { data, dropped } = dataOf(understood);
  const { successful, successReason } = judgeSuccess(story, found.intent);
  return {
    findings: {
      summary: summarise(story, found.turns),
      intent: found.intent,
      intentConfidence: found.confidence,
      sentiment: findSentiment(understood.turns),
      successful,
      successReason,
      data,
      language: story.language,
      disposition: story.disposition,
      evidence: evidenceOf(found),
      model: HEURISTIC_MODEL,
    },
    dropped,
  };
}

function evidenceOf(found: IntentFound): Evidence[] {
  return found.turns.slice(0, MOST_EVIDENCE).map((turn) => ({
    turnId: turn.turnId,
    quote: wellFormed(turn.heardText.trim().slice(0, BOUNDS.quoteCharacters)),
  }));
}

/**
 * With a schema: its properties, from what the script caught or from a choice that the caller
 * named. Without: what the script caught.
 */
function dataOf({ settings, variables, turns }: CallStory): { data: Record<string, unknown>; dropped: string[] } {
  if (settings.data === undefined) {
    return boundedData(
      Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, plainLine(value, 2_000)])),
    );
  }
  const caught = fitProperties(settings.data, variables);
  const said = turns.filter((turn) => turn.role === 'user').map((turn) => ` ${spokenWords(turn.heardText)} `);
  for (const { name, choices } of choicesOf(settings.data)) {
    if (Object.hasOwn(caught.data, name)) continue;
    const named = choices.filter((choice) => said.some((words) => words.includes(` ${spokenWords(choice)} `)));
    if (named.length === 1) caught.data[name] = named[0];
  }
  const bounded = boundedData(caught.data);
  return { data: bounded.data, dropped: [...caught.dropped, ...bounded.dropped] };
}

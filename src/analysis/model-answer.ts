/**
 * What a model answered → findings. Nothing is believed: labels that the agent does not have, quotes that nobody said,
 * data that does not fit and keys that nobody asked for are dropped; what may stay is cut and
 * cleaned. Pure, and never throws.
 */

import {
  BOUNDS,
  type Evidence,
  type Findings,
  OTHER_INTENT,
  plainLine,
  SENTIMENTS,
  type Sentiment,
  shortSummary,
} from '../calls/findings.ts';
import type { CallStory } from './call-story.ts';
import { boundedData, fitProperties } from './data-schema.ts';
import { checkEvidence } from './evidence.ts';
import { judgeSuccess } from './heuristic/success.ts';
import { withUnclear } from './unclear-sentence.ts';

export type AnswerReading =
  | { ok: true; findings: Findings; warnings: AnswerWarning[] }
  /** `problem` is a clause for a person. */
  | { ok: false; problem: string };

export type AnswerWarning = 'analysis_evidence_dropped' | 'analysis_data_dropped' | 'analysis_intent_unknown';

/** `base` gives what the model left out, and the values that the script caught, which outrank what a model read. */
export function readAnswer(content: string, story: CallStory, base: Findings, model: string): AnswerReading {
  const answer = parseObject(content);
  if (answer === null) return { ok: false, problem: 'the answer is no JSON object' };
  const summary = typeof answer['summary'] === 'string' ? shortSummary(answer['summary']) : '';
  if (summary === '') return { ok: false, problem: 'the answer has no summary' };
  if (typeof answer['intent'] !== 'string') return { ok: false, problem: 'the answer has no intent' };
  const warnings: AnswerWarning[] = [];
  const intent = story.labels.find((label) => label === answer['intent']);
  if (intent === undefined) warnings.push('analysis_intent_unknown');
  const { evidence, invented } = checkEvidence(claimsOf(answer['evidence']), story.turns);
  if (invented > 0) warnings.push('analysis_evidence_dropped');
  const { data, dropped } = dataOf(answer['data'], story, base);
  if (dropped.length > 0) warnings.push('analysis_data_dropped');
  const confidence = answer['intentConfidence'];
  const isConfidence = typeof confidence === 'number' && confidence >= 0 && confidence <= 1;
  return {
    ok: true,
    warnings,
    findings: {
      summary: withUnclear(summary, story),
      intent: intent ?? OTHER_INTENT,
      intentConfidence: intent !== undefined && isConfidence ? Math.round(confidence * 100) / 100 : null,
      sentiment: sentimentOf(answer['sentiment']) ?? base.sentiment,
      ...successOf(answer, story, intent ?? OTHER_INTENT, base),
      data,
      language: languageOf(answer['language']) ?? base.language,
      disposition: story.disposition ?? lineOf(answer['disposition'], BOUNDS.labelCharacters),
      evidence,
      model: plainLine(model, BOUNDS.labelCharacters),
    },
  };
}

/** Some servers put the object into a fence, or a word before it. */
function parseObject(content: string): Record<string, unknown> | null {
  const from = content.indexOf('{');
  const to = content.lastIndexOf('}');
  for (const text of [content, from === -1 ? '' : content.slice(from, to + 1)]) {
    try {
      const value: unknown = JSON.parse(text);
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
    } catch {}
  }
  return null;
}

function claimsOf(given: unknown): Evidence[] {
  if (!Array.isArray(given)) return [];
  return given.slice(0, 4 * BOUNDS.evidence).flatMap((one: unknown) => {
    if (typeof one !== 'object' || one === null) return [];
    const { turnId, quote } = one as Record<string, unknown>;
    return typeof turnId === 'string' && typeof quote === 'string' ? [{ turnId, quote }] : [];
  });
}

function dataOf(
  given: unknown,
  story: CallStory,
  base: Findings,
): { data: Record<string, unknown>; dropped: string[] } {
  const schema = story.settings.data;
  if (schema === undefined || typeof given !== 'object' || given === null || Array.isArray(given)) {
    return { data: base.data, dropped: [] };
  }
  const read = fitProperties(schema, given as Record<string, unknown>);
  const caught = fitProperties(schema, story.variables).data;
  const bounded = boundedData({ ...read.data, ...caught });
  return { data: bounded.data, dropped: [...read.dropped, ...bounded.dropped] };
}

/** An agent that names its success intents has them decide. */
function successOf(
  { successful, successReason }: Record<string, unknown>,
  story: CallStory,
  intent: string,
  base: Findings,
): Pick<Findings, 'successful' | 'successReason'> {
  if (story.settings.successIntents !== undefined) return judgeSuccess(story, intent);
  if (typeof successful !== 'boolean' && successful !== null) {
    return { successful: base.successful, successReason: base.successReason };
  }
  return { successful, successReason: lineOf(successReason, BOUNDS.reasonCharacters) };
}

function sentimentOf(value: unknown): Sentiment | null {
  return SENTIMENTS.find((sentiment) => sentiment === value) ?? null;
}

function languageOf(value: unknown): string | null {
  return typeof value === 'string' && /^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$/.test(value) ? value : null;
}

function lineOf(value: unknown, longest: number): string | null {
  const line = typeof value === 'string' ? plainLine(value, longest) : '';
  return line === '' ? null : line;
}

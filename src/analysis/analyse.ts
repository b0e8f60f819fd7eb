/**
 * One analysis: the heuristic always, and a model above it where there is one. Knows no database and no jobs. Whatever
 * a model does, there is a result: `model` says who made it, and `warnings` why it was not the model.
 */

import type { Findings } from '../calls/findings.ts';
import { type AskDeps, type Asked, askModel } from './ask-model.ts';
import type { CallStory } from './call-story.ts';
import type { ChatEndpoint } from './chat-endpoint.ts';
import { readByHeuristic } from './heuristic/heuristic.ts';
import type { ModelState } from './model-state.ts';

export interface Analysis {
  findings: Findings;
  /** Codes for the call's `warnings`. */
  warnings: string[];
  /** Why the model did not serve; null when it did, or none was asked. */
  modelFault: string | null;
}

export interface ModelToAsk {
  endpoint: ChatEndpoint;
  state: ModelState;
  /** On the monotonic clock. */
  deadlineAtMs: number;
  signal: AbortSignal;
}

/** Without a model. Pure. */
export function analyseAlone(story: CallStory): Analysis {
  const { findings, dropped } = readByHeuristic(story);
  return { findings, warnings: dropped.length > 0 ? ['analysis_data_dropped'] : [], modelFault: null };
}

export async function analyse(deps: AskDeps, story: CallStory, model: ModelToAsk | null): Promise<Analysis> {
  const base = analyseAlone(story);
  if (model === null || story.settings.useModel === false) return base;
  // Nothing was said that was understood: there is nothing to read, and nothing to pay for.
  if (!story.turns.some((turn) => turn.role === 'user' && turn.unclear === undefined)) return base;
  const { endpoint, state, deadlineAtMs, signal } = model;
  const asked: Asked = await askModel(deps, endpoint, state, { story, base: base.findings, deadlineAtMs, signal });
  if (!asked.ok) {
    return { ...base, warnings: [...base.warnings, `analysis_model_${asked.fault}`], modelFault: asked.reason };
  }
  return { findings: asked.findings, warnings: [...new Set(asked.warnings)], modelFault: null };
}

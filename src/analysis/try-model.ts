/**
 * Is a chat endpoint of any use? One question about a made-up call, so that a wrong key or
 * model shows before a call needs them.
 */
import { QUESTION_LIMIT_MS } from './ask-model.ts';
import type { CallStory } from './call-story.ts';
import { askChat, type ChatDeps, type ChatEndpoint, type ModelFault } from './chat-endpoint.ts';
import { type AnswerFormat, chatRequest } from './chat-request.ts';
import { readByHeuristic } from './heuristic/heuristic.ts';
import { readAnswer } from './model-answer.ts';

export interface ModelTrial {
  ok: boolean;
  /** How it was asked for its answer in the end; null when none came. */
  format: AnswerFormat | null;
  ms: number;
  /** Of the made-up call. */
  summary: string | null;
  intent: string | null;
  fault: ModelFault | null;
  problem: string | null;
}

const turn = (turnId: string, role: 'agent' | 'user', text: string, startMs: number): CallStory['turns'][number] => ({
  turnId,
  role,
  startMs,
  endMs: startMs + 2_000,
  text,
  heardText: text,
  interrupted: false,
  kind: 'speech',
});

const STORY: CallStory = {
  agentName: 'Paul of River Dental',
  script: 'Confirm the appointment of Dana on Tuesday at three.',
  language: 'en-US',
  hasScript: true,
  lostRecogniser: false,
  labels: ['confirmed', 'rescheduled', 'other'],
  settings: {},
  channel: 'phone',
  direction: 'outbound',
  name: 'Dana',
  status: 'completed',
  endedReason: 'agent_hangup',
  hangupBy: 'agent',
  talkSeconds: 12,
  turns: [turn('t1', 'agent', 'Can you still come on Tuesday at three?', 0), turn('t2', 'user', 'yes please', 3_000)],
  disposition: null,
  variables: {},
};

export async function tryModel(deps: ChatDeps, endpoint: ChatEndpoint): Promise<ModelTrial> {
  const beganAtMs = deps.clock.nowMs();
  const outcome = await askChat(deps, endpoint, {
    body: (format) => chatRequest(STORY, endpoint.model, format),
    from: 'json_schema',
    limitMs: QUESTION_LIMIT_MS,
  });
  const ms = Math.round(deps.clock.nowMs() - beganAtMs);
  const nothing = { ok: false, format: null, ms, summary: null, intent: null };
  if (outcome.kind === 'failed') return { ...nothing, fault: outcome.fault, problem: outcome.reason };
  const reading = readAnswer(outcome.content, STORY, readByHeuristic(STORY).findings, endpoint.model);
  if (!reading.ok) return { ...nothing, format: outcome.format, fault: 'nonsense', problem: reading.problem };
  const { summary, intent } = reading.findings;
  return { ok: true, format: outcome.format, ms, summary, intent, fault: null, problem: null };
}

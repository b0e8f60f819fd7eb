/**
 * `POST /api/developer/calls/{callUuid}/control` (contract §13): steers a call that runs; answered when the call has
 * done it.
 */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { ControlAction } from '../../../media/contract/operator-control.ts';
import type { ErrorCode } from '../../errors/error-codes.ts';
import type { OperatorControlResult, SteerCall } from '../../lifecycle/operator-control.ts';
import { isStorable } from '../../store/storable.ts';
import { changedBy, type Guard } from '../guard.ts';
import { json } from '../openapi/operation.ts';
import { Refusal } from '../refusal.ts';
import { routesOn } from '../route.ts';
import { controlAnswer } from './answers.ts';
import { callParams } from './call-routes.ts';

export interface CallControlDeps {
  controlCall: SteerCall;
}

const words = z.string().trim().min(1).max(1_000).refine(isStorable, { error: 'must be text' });

export const controlBody = z
  .discriminatedUnion('action', [
    z.object({
      action: z.literal('say').describe('The agent says `text` in its own voice; the conversation then goes on'),
      text: words,
      interrupt: z.boolean().default(false).describe('Cut what is being said, instead of waiting for its end'),
    }),
    z.object({
      action: z.literal('inject').describe('The agent takes `text` as though the caller had said it'),
      text: words,
    }),
    z.object({
      action: z
        .literal('whisper')
        .describe(
          'Tells the agent what to do, unheard by the caller: holds from its next words on. A scripted agent takes the id of one of its steps, and goes there',
        ),
      text: words,
    }),
    z.object({ action: z.literal('mute_agent').describe('The agent falls silent and answers nothing') }),
    z.object({ action: z.literal('unmute_agent').describe('It goes on from the word at which it fell silent') }),
    z.object({
      action: z.literal('dtmf').describe('Keys pressed towards the far end'),
      digits: z.string().regex(/^[0-9*#A-D]{1,32}$/, 'must be 1 to 32 of 0–9, *, #, A–D'),
    }),
    z.object({
      action: z.literal('handback').describe('A person who has taken the call over gives it back: the agent goes on'),
      note: words.optional().describe('For the agent alone'),
    }),
    z.object({
      action: z
        .enum(['transfer', 'takeover'])
        .describe('422: `transfer` is not served yet; `takeover` takes a microphone, at the console (`/ws/monitor`)'),
    }),
  ])
  .meta({ id: 'Control' });

const REFUSED: Record<Exclude<OperatorControlResult, 'done'>, { code: ErrorCode; issue?: string }> = {
  unknown_call: { code: 'call_not_found' },
  not_in_progress: { code: 'call_not_in_progress' },
  unanswered: { code: 'control_unanswered' },
  unsupported: { code: 'action_not_supported', issue: 'neither this agent nor its carrier can' },
  ending: { code: 'action_not_possible', issue: 'the agent has said its last word' },
  muted: { code: 'action_not_possible', issue: 'the agent is muted; send unmute_agent first' },
  queue_full: { code: 'action_not_possible', issue: 'five texts wait to be said already' },
  taken: { code: 'action_not_possible', issue: 'a person has taken the call over; send handback first' },
  not_taken: { code: 'action_not_possible', issue: 'nobody has taken the call over' },
  not_followed: {
    code: 'action_not_possible',
    issue:
      'the agent cannot follow that now; a scripted agent takes the id of a step, and none while a tool is at work',
  },
};

export function registerCallControl(app: FastifyInstance, guard: Guard, deps: CallControlDeps): void {
  const route = routesOn(app, guard);
  route({
    method: 'post',
    path: '/api/developer/calls/:callUuid/control',
    id: 'controlCall',
    tag: 'Calls',
    summary: 'Steer a call that runs',
    description:
      'Answered when the call has done it, within 3 s. Each action is in the events of the call and in the audit log, without its words or digits. Only for an answered call of an agent that converses; a mute outlasts a fault of ours that moves the call.',
    scope: 'calls:write',
    right: 'calls:control',
    params: callParams,
    body: controlBody,
    answers: { 200: json('It is done.', controlAnswer) },
    errors: [
      'call_not_in_progress',
      'action_not_possible',
      'action_not_supported',
      'control_unanswered',
      'invalid_call_id',
      'call_not_found',
    ],
    async handler(request) {
      const { callUuid } = request.params;
      const { workspaceId } = request.principal;
      const action = actionOf(request.body);
      const result = await deps.controlCall({ workspaceId, callUuid, action, by: changedBy(request) });
      if (result === 'done') return { success: true, callUuid, action: request.body.action };
      const { code, issue } = REFUSED[result];
      throw new Refusal(code, issue === undefined ? {} : { details: [{ field: 'action', issue }] });
    },
  });
}

/** Null: an action that nothing serves yet. */
function actionOf(body: z.output<typeof controlBody>): ControlAction | null {
  switch (body.action) {
    case 'say':
      return { type: 'say', text: body.text, interrupt: body.interrupt };
    case 'inject':
    case 'whisper':
      return { type: body.action, text: body.text };
    case 'dtmf':
      return { type: 'dtmf', digits: body.digits };
    case 'handback':
      return { type: 'handback', note: body.note ?? null };
    case 'mute_agent':
    case 'unmute_agent':
      return { type: body.action };
    default:
      return null;
  }
}

/**
 * What a workspace may dial and how much a day: read with its key at `/api/developer/dial-policy`, read and changed
 * with the operator's at `/api/developer/workspaces/{slug}/dial-policy`, and nowhere else over HTTP. The rules are
 * `src/dialling`.
 */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { LEAST_CALL_SECONDS, MOST_CALL_SECONDS } from '../../dialling/daily-ceilings.ts';
import { readDialOverview } from '../../dialling/dial-overview.ts';
import { changeDialPolicy } from '../../dialling/dial-policy.ts';
import { NUMBER_KINDS } from '../../dialling/number-kinds.ts';
import type { Database } from '../../store/database.ts';
import { findWorkspace } from '../../workspaces/workspaces.ts';
import type { Guard } from '../guard.ts';
import { json } from '../openapi/operation.ts';
import { byOperator } from '../operator/operator-guard.ts';
import { WORKSPACES_PATH, workspaceParams } from '../operator/workspace-routes.ts';
import { routesOn } from '../route.ts';
import { given } from '../settings/given.ts';
import { refusing } from '../settings/setting-refusal.ts';
import { dialPolicyAnswer, storedDialPolicyAnswer } from './answers.ts';

export const DIAL_POLICY_PATH = '/api/developer/dial-policy';
export const DIAL_POLICY_OF_WORKSPACE_PATH = `${WORKSPACES_PATH}/:slug/dial-policy`;

const countries = z.array(z.string().max(2)).max(300);
const ceiling = z.int().min(0).max(1_000_000);

export const dialPolicyBody = z
  .strictObject({
    countries: countries.nullish().meta({ description: 'ISO 3166, beside those of its lines; null: any' }),
    blockedCountries: countries.optional().meta({ description: 'Never, whatever else allows them' }),
    kinds: z.array(z.enum(NUMBER_KINDS)).max(20).optional().meta({ description: 'Beside ordinary numbers' }),
    maxCallSeconds: z.int().min(LEAST_CALL_SECONDS).max(MOST_CALL_SECONDS).nullish().meta({
      description: 'No call lasts longer; null: as its agent says',
    }),
    callsPerDay: ceiling.nullish().meta({ description: 'UTC; null: no ceiling; 0: none' }),
    minutesPerDay: ceiling.nullish(),
    keyCallsPerDay: ceiling.nullish().meta({ description: 'Of each key, with the keys that it has made' }),
    keyMinutesPerDay: ceiling.nullish(),
  })
  .meta({ id: 'DialPolicyChange' });

export function registerDialPolicy(app: FastifyInstance, guard: Guard, deps: { database: Database }): void {
  const route = routesOn(app, guard);
  const { database } = deps;

  route({
    method: 'get',
    path: DIAL_POLICY_PATH,
    id: 'readDialPolicy',
    tag: 'Directory',
    summary: 'What the operator lets the workspace dial, and what is left of the day',
    description: 'No key of the workspace changes it; its calling settings narrow it.',
    scope: 'calls:read',
    answers: { 200: json('The policy.', dialPolicyAnswer) },
    handler: (request) => readDialOverview(database, request.principal.workspaceId),
  });

  route({
    method: 'get',
    path: DIAL_POLICY_OF_WORKSPACE_PATH,
    id: 'readWorkspaceDialPolicy',
    tag: 'Operator',
    summary: 'What a workspace may dial, and what it has had of the day',
    description: 'A new workspace calls ordinary numbers in the countries of its lines.',
    scope: 'operator',
    params: workspaceParams,
    answers: { 200: json('The policy.', dialPolicyAnswer) },
    errors: ['workspace_not_found'],
    async handler(request) {
      const { id } = await refusing('workspace_not_found', findWorkspace(database, request.params.slug));
      return readDialOverview(database, id);
    },
  });

  route({
    method: 'patch',
    path: DIAL_POLICY_OF_WORKSPACE_PATH,
    id: 'changeWorkspaceDialPolicy',
    tag: 'Operator',
    summary: 'Allow countries and kinds of numbers; set the longest call and the ceilings of a day',
    description: 'Only what is given; it holds for the next dial, and live calls go on.',
    scope: 'operator',
    params: workspaceParams,
    body: dialPolicyBody,
    answers: { 200: json('The policy.', storedDialPolicyAnswer) },
    errors: ['workspace_not_found'],
    async handler(request) {
      const { slug } = request.params;
      const wanted = { slug, change: given(request.body), by: byOperator(request) };
      await refusing('workspace_not_found', changeDialPolicy(database, wanted));
      const { id } = await findWorkspace(database, slug);
      return { success: true, dialPolicy: await readDialOverview(database, id) };
    },
  });
}

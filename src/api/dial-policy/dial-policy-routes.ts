/**
 * What a workspace may dial and how much a day: read with its key at `/api/developer/dial-policy`, read and changed with the
 * operator's at `/api/developer/workspaces/{slug}/dial-policy`, and nowhere else over HTTP. The rules are `src/dialling`.
 */
import type { FastifyInstance, onRequestAsyncHookHandler } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { LEAST_CALL_SECONDS, MOST_CALL_SECONDS } from '../../dialling/daily-ceilings.ts';
import { readDialOverview } from '../../dialling/dial-overview.ts';
import { changeDialPolicy } from '../../dialling/dial-policy.ts';
import { NUMBER_KINDS } from '../../dialling/number-kinds.ts';
import type { Database } from '../../store/database.ts';
import { findWorkspace } from '../../workspaces/workspaces.ts';
import type { Guard } from '../guard.ts';
import { byOperator } from '../operator/operator-guard.ts';
import { WORKSPACES_PATH, workspaceParams } from '../operator/workspace-routes.ts';
import { given } from '../settings/given.ts';
import { refusing } from '../settings/setting-refusal.ts';

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

export function registerDialPolicy(
  plain: FastifyInstance,
  guard: Guard,
  operatorGuard: onRequestAsyncHookHandler,
  deps: { database: Database },
): void {
  const app = plain.withTypeProvider<ZodTypeProvider>();
  const { database } = deps;

  app.get(DIAL_POLICY_PATH, { onRequest: guard('calls:read') }, (request) =>
    readDialOverview(database, request.principal.workspaceId),
  );

  const operator = { onRequest: operatorGuard, schema: { params: workspaceParams } };
  app.get(DIAL_POLICY_OF_WORKSPACE_PATH, operator, async (request) => {
    const { id } = await refusing('workspace_not_found', findWorkspace(database, request.params.slug));
    return readDialOverview(database, id);
  });

  const changing = { onRequest: operatorGuard, schema: { params: workspaceParams, body: dialPolicyBody } };
  app.patch(DIAL_POLICY_OF_WORKSPACE_PATH, changing, async (request) => {
    const { slug } = request.params;
    const wanted = { slug, change: given(request.body), by: byOperator(request) };
    await refusing('workspace_not_found', changeDialPolicy(database, wanted));
    const { id } = await findWorkspace(database, slug);
    return { success: true, dialPolicy: await readDialOverview(database, id) };
  });
}

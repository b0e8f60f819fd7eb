/** `POST /api/console/w/{enterprise}/calls/{callUuid}/monitor`: a token with which this person may listen in, once. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { readCall } from '../../calls/call-row.ts';
import type { Monitors } from '../../monitor/monitors.ts';
import type { Database } from '../../store/database.ts';
import { rightsOf } from '../../users/roles.ts';
import { changedBy, type Guard } from '../guard.ts';
import { json } from '../openapi/operation.ts';
import { Refusal } from '../refusal.ts';
import { routesOn } from '../route.ts';
import { monitorAnswer } from './answers.ts';
import { WORKSPACE_CALL_PATH, workspaceCallParams } from './workspace-call.ts';

export interface MonitorRouteDeps {
  database: Database;
  monitors: Pick<Monitors, 'issue'>;
}

const MONITOR_PATH = '/ws/monitor';
const RETRY_SECONDS = 60;

export function registerMonitor(app: FastifyInstance, guard: Guard, deps: MonitorRouteDeps): void {
  const route = routesOn(app, guard);
  route({
    method: 'post',
    path: `${WORKSPACE_CALL_PATH}/monitor`,
    id: 'listenIn',
    tag: 'Console',
    summary: 'A token to listen in to a call that runs',
    description:
      'It opens `wss://HOST/ws/monitor?token=…` once, within a minute. The socket begins without sound; nobody in the call hears of it. Who listened, and when, is in the audit log. It ends with the call, with the session and with the right.',
    scope: 'person',
    right: 'calls:listen',
    params: workspaceCallParams,
    body: z.strictObject({}),
    answers: { 200: json('The token.', monitorAnswer) },
    errors: ['call_not_found', 'invalid_call_id', 'call_not_in_progress', 'event_stream_limit'],
    async handler(request) {
      const { callUuid } = request.params;
      const { workspaceId } = request.principal;
      const { signedIn } = request;
      const call = await readCall(deps.database, workspaceId, callUuid);
      if (call === undefined) throw new Refusal('call_not_found');
      if (call.status !== 'in_progress' || call.ending !== null) throw new Refusal('call_not_in_progress');
      if (signedIn === null || signedIn.membership === null) throw new Error('This route lets people in alone.');
      const { sessionId, membership } = signedIn;
      const { role, hears, version } = membership;
      const session = { sessionId, workspaceId, version };
      const maySteer = rightsOf(role, hears).includes('calls:control');
      const issued = deps.monitors.issue({ workspaceId, callUuid, by: changedBy(request), session, maySteer });
      if (issued === null) throw new Refusal('event_stream_limit', { retryAfterSeconds: RETRY_SECONDS });
      return { token: issued.token, path: MONITOR_PATH, expiresAt: issued.expiresAt };
    },
  });
}

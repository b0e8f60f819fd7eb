/**
 * The same operations for people: what is registered for keys below `/api/developer/`, and the placing of a call, is
 * registered once more below `/api/console/w/{enterprise}/`, and the operator's below `/api/console/operator/`. Nothing
 * is described twice; what differs is who is let in (`session-guard.ts`), that errors are always whole, and that those
 * who may not see numbers get answers without them.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Door, Guard } from '../guard.ts';
import { maskedJson, maskedText } from '../masking.ts';
import { Refusal } from '../refusal.ts';
import { PERSON_CODES } from '../route.ts';

export const CONSOLE_PATH = '/api/console';
export const WORKSPACE_PATH = `${CONSOLE_PATH}/w/:enterprise`;
const DEVELOPER_PATH = '/api/developer';
const OUTBOUND_CALL_PATH = '/api/outbound-call';
/** Of this host alone. Whoever was here once types no password into a page in clear in its place. */
const TLS_ALONE = 'max-age=31536000';

const DOOR: Door = {
  pathOf(path, need) {
    const below = need === 'operator' ? `${CONSOLE_PATH}/operator` : WORKSPACE_PATH;
    if (path.startsWith(`${DEVELOPER_PATH}/`)) return below + path.slice(DEVELOPER_PATH.length);
    return path === OUTBOUND_CALL_PATH ? `${WORKSPACE_PATH}/outbound-call` : null;
  },
  operationOf: (operation) => ({
    ...operation,
    specified: false,
    errors: [...new Set([...operation.errors, ...PERSON_CODES, 'operator_only', 'invalid_request'] as const)],
  }),
};

export function throughSecondDoor(guard: Guard): Guard {
  return Object.assign(((need, right) => guard(need, right)) satisfies Guard, { door: DOOR });
}

/** Of a scope in which operations are registered for people. */
export function answerPeople(scope: FastifyInstance, publicUrl: string): void {
  scope.addHook('onSend', async (request, reply, payload) => {
    leadHere(request, reply, publicUrl);
    if (publicUrl.startsWith('https:')) reply.header('strict-transport-security', TLS_ALONE);
    const { masking = null } = (request.principal as FastifyRequest['principal'] | null) ?? {};
    if (masking === null || payload === null || payload === undefined) return payload;
    const type = String(reply.getHeader('content-type') ?? '');
    const isWhole = reply.statusCode === 200 && request.routeOptions.config.masksItself === true;
    if (isWhole || type.startsWith('audio/')) return payload;
    // A stream of text would have to be looked through in pieces; nothing that such people may read is one.
    if (typeof payload !== 'string') throw new Refusal('role_insufficient');
    reply.removeHeader('content-length');
    return type.startsWith('application/json') ? maskedJson(payload, masking) : maskedText(payload, masking);
  });
}

/** `Location` is a path of this host, and of this door. */
function leadHere(request: FastifyRequest, reply: FastifyReply, publicUrl: string): void {
  const location = reply.getHeader('location');
  if (typeof location !== 'string') return;
  const path = location.startsWith(`${publicUrl}/`) ? location.slice(publicUrl.length) : location;
  const { enterprise } = request.params as { enterprise?: string };
  const isSigned = path.startsWith(`${DEVELOPER_PATH}/recordings/`);
  const isOurs = path.startsWith(`${DEVELOPER_PATH}/`) && enterprise !== undefined && !isSigned;
  reply.header('location', isOurs ? `${CONSOLE_PATH}/w/${enterprise}${path.slice(DEVELOPER_PATH.length)}` : path);
}

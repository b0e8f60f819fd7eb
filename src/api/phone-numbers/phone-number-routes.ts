/**
 * `/api/developer/phone-numbers`: the lines of a workspace and their telephony credentials, which go in and never come
 * out. An active call keeps the credentials that it was placed with. The rules are `src/workspaces/lines.ts`; the
 * command line runs the same functions.
 */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { CARRIER_NAMES, credentialNames } from '../../../media/contract/carriers.ts';
import type { Clock } from '../../../media/contract/clock.ts';
import { recordAudit } from '../../audit/record-audit.ts';
import { type LineTrialDeps, tryLine } from '../../workspaces/line-trial.ts';
import {
  addLine,
  listLinesOf,
  type PhoneLine,
  readLine,
  removeLine,
  setLineCredentials,
  setLineLimits,
} from '../../workspaces/lines.ts';
import { changedBy, type Guard } from '../guard.ts';
import { ETAG, json } from '../openapi/operation.ts';
import { routesOn } from '../route.ts';
import { type CreateOnceDeps, createOnce } from '../settings/create-once.ts';
import { etagOf, expectMatch } from '../settings/etag.ts';
import { given } from '../settings/given.ts';
import { refusing } from '../settings/setting-refusal.ts';
import {
  deletedPhoneNumberAnswer,
  lineTrialAnswer,
  phoneNumberAnswer,
  phoneNumbersAnswer,
  storedPhoneNumberAnswer,
} from './answers.ts';

export const PHONE_NUMBERS_PATH = '/api/developer/phone-numbers';

export const lineParams = z.object({
  lineId: z.guid({ error: 'must be a UUID' }).transform((id) => id.toLowerCase()),
});

export const lineLimits = z.strictObject({
  concurrentCalls: z.int().min(0).max(1_000_000).optional().meta({ description: 'Calls at once' }),
  callsPerSecond: z.int().min(0).max(1_000_000).optional().meta({ description: 'New calls a second' }),
});

const needed = CARRIER_NAMES.map((carrier) => `${carrier}: ${credentialNames(carrier).join(', ')}`);
export const credentialsBody = z
  .record(z.string().max(64), z.string().min(1).max(1_000))
  .meta({ id: 'TelephonyCredentials', description: `By carrier: ${needed.join('; ')}. Stored sealed, never shown.` });

export const newLineBody = z
  .strictObject({
    number: z.string().regex(/^\+[1-9]\d{6,14}$/, 'must be E.164, like +14155550100'),
    carrier: z.enum(CARRIER_NAMES),
    credentials: credentialsBody.optional(),
    limits: lineLimits.optional(),
  })
  .meta({ id: 'NewPhoneNumber' });

export const lineChangeBody = z.strictObject({ limits: lineLimits }).meta({ id: 'PhoneNumberChange' });

export interface PhoneNumberDeps extends CreateOnceDeps {
  clock: Clock;
  registry: LineTrialDeps['registry'];
}

export function registerPhoneNumbers(app: FastifyInstance, guard: Guard, deps: PhoneNumberDeps): void {
  const route = routesOn(app, guard);
  const { database, sealer } = deps;
  const one = `${PHONE_NUMBERS_PATH}/:lineId`;

  route({
    method: 'get',
    path: PHONE_NUMBERS_PATH,
    id: 'listPhoneNumbers',
    tag: 'Directory',
    summary: 'The phone numbers of the workspace',
    description: 'Their ids are what `from` wants.',
    scope: 'agents:read',
    answers: { 200: json('All of them.', phoneNumbersAnswer) },
    handler: async (request) => ({
      data: (await listLinesOf(database, request.principal.workspaceId)).map(shownLine),
      nextCursor: null,
    }),
  });

  route({
    method: 'post',
    path: PHONE_NUMBERS_PATH,
    id: 'createPhoneNumber',
    tag: 'Settings',
    summary: 'Add a phone line',
    description:
      'Credentials may follow later; until then no call can be placed from it. Its limits are at most those that the operator allows the workspace.',
    scope: 'settings:write',
    once: true,
    body: newLineBody,
    answers: { 201: json('The line.', storedPhoneNumberAnswer, ETAG) },
    errors: ['setting_refused', 'already_exists'],
    handler: (request, reply) =>
      createOnce<PhoneLine>(deps, request, reply, {
        run: (once) => {
          const { limits, ...line } = request.body;
          const { slug } = request.principal;
          const wanted = { slug, ...line, limits: given(limits ?? {}), withinCaps: true, by: changedBy(request) };
          return refusing('line_not_found', addLine(once, sealer, wanted));
        },
        answer: (line) => ({
          status: 201,
          body: { success: true, phoneNumber: shownLine(line) },
          headers: { etag: etagOf(stateOf(line)) },
        }),
      }),
  });

  route({
    method: 'get',
    path: one,
    id: 'readPhoneNumber',
    tag: 'Settings',
    summary: 'A phone line',
    description: 'Whether it has credentials is shown, never which.',
    scope: 'settings:read',
    params: lineParams,
    answers: { 200: json('The line.', phoneNumberAnswer, ETAG) },
    errors: ['line_not_found'],
    async handler(request, reply) {
      const named = { slug: request.principal.slug, lineId: request.params.lineId };
      const line = await refusing('line_not_found', readLine(database, named));
      reply.header('etag', etagOf(stateOf(line)));
      return shownLine(line);
    },
  });

  route({
    method: 'patch',
    path: one,
    id: 'changePhoneNumber',
    tag: 'Settings',
    summary: "Change a line's limits",
    description: 'Holds within a second; live calls go on.',
    scope: 'settings:write',
    ifMatch: true,
    params: lineParams,
    body: lineChangeBody,
    answers: { 200: json('The line.', storedPhoneNumberAnswer, ETAG) },
    errors: ['line_not_found', 'setting_refused'],
    async handler(request, reply) {
      const changed = await refusing(
        'line_not_found',
        setLineLimits(database, {
          slug: request.principal.slug,
          lineId: request.params.lineId,
          limits: given(request.body.limits),
          withinCaps: true,
          by: changedBy(request),
          expect: expectMatch(request, stateOf),
        }),
      );
      reply.header('etag', etagOf(stateOf(changed)));
      return { success: true, phoneNumber: shownLine(changed) };
    },
  });

  route({
    method: 'put',
    path: `${one}/credentials`,
    id: 'setPhoneNumberCredentials',
    tag: 'Settings',
    summary: 'Set the telephony credentials of a line',
    description: 'Write-only. New calls use them; a live call is ended with those that it was placed with.',
    scope: 'settings:write',
    ifMatch: true,
    params: lineParams,
    body: credentialsBody,
    answers: { 200: json('The line.', storedPhoneNumberAnswer, ETAG) },
    errors: ['line_not_found', 'setting_refused'],
    async handler(request, reply) {
      const changed = await refusing(
        'line_not_found',
        setLineCredentials(database, sealer, {
          slug: request.principal.slug,
          lineId: request.params.lineId,
          credentials: request.body,
          by: changedBy(request),
          expect: expectMatch(request, stateOf),
        }),
      );
      reply.header('etag', etagOf(stateOf(changed)));
      return { success: true, phoneNumber: shownLine(changed) };
    },
  });

  route({
    method: 'post',
    path: `${one}/test`,
    id: 'testPhoneNumber',
    tag: 'Settings',
    summary: 'Try the credentials of a line',
    description:
      'By one request to its carrier that places no call. Answers 200 whether they serve or not: `ok` says which, `fault` and `problem` what is wrong.',
    scope: 'settings:write',
    params: lineParams,
    answers: { 200: json('What came of it.', lineTrialAnswer) },
    errors: ['line_not_found'],
    async handler(request) {
      const { workspaceId } = request.principal;
      const { lineId } = request.params;
      const trial = await refusing('line_not_found', tryLine(database, deps, { workspaceId, lineId }));
      const by = changedBy(request);
      await recordAudit(database, { workspaceId, by, action: 'line.tested', target: `line:${lineId}` });
      return trial;
    },
  });

  route({
    method: 'delete',
    path: one,
    id: 'deletePhoneNumber',
    tag: 'Settings',
    summary: 'Remove a line',
    description: 'No call is placed from it any more; its live calls go on. Its credentials are gone a day later.',
    scope: 'settings:write',
    ifMatch: true,
    params: lineParams,
    answers: { 200: json('It is gone.', deletedPhoneNumberAnswer) },
    errors: ['line_not_found', 'setting_refused'],
    async handler(request) {
      const { lineId } = request.params;
      const { slug } = request.principal;
      const expect = expectMatch(request, stateOf);
      await refusing('line_not_found', removeLine(database, { slug, lineId, by: changedBy(request), expect }));
      return { success: true, lineId };
    },
  });
}

/** As it is answered. */
const shownLine = ({ credentialsVersion: _, ...line }: PhoneLine): Omit<PhoneLine, 'credentialsVersion'> => line;

const stateOf = ({ number, carrier, hasCredentials, credentialsVersion, limits }: PhoneLine): object => ({
  number,
  carrier,
  hasCredentials,
  credentialsVersion,
  limits,
});

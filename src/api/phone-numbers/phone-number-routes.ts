/**
 * `/api/developer/phone-numbers`: the lines of a workspace and their telephony credentials, which go in and never come out. A live
 * call keeps the credentials that it was placed with. The rules are `src/workspaces/lines.ts`; the command line runs the same functions.
 */
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { CARRIER_NAMES, credentialNames } from '../../../media/contract/carriers.ts';
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
import { type CreateOnceDeps, createOnce } from '../settings/create-once.ts';
import { etagOf, expectMatch } from '../settings/etag.ts';
import { given } from '../settings/given.ts';
import { refusing } from '../settings/setting-refusal.ts';

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

export function registerPhoneNumbers(plain: FastifyInstance, guard: Guard, deps: CreateOnceDeps): void {
  const app = plain.withTypeProvider<ZodTypeProvider>();
  const { database, sealer } = deps;
  const writing = { onRequest: guard('settings:write') };
  const one = `${PHONE_NUMBERS_PATH}/:lineId`;

  app.get(PHONE_NUMBERS_PATH, { onRequest: guard('agents:read') }, async (request) => ({
    data: await listLinesOf(database, request.principal.workspaceId),
    nextCursor: null,
  }));

  app.post(PHONE_NUMBERS_PATH, { ...writing, schema: { body: newLineBody } }, (request, reply) =>
    createOnce<PhoneLine>(deps, request, reply, {
      run: (once) => {
        const { limits, ...line } = request.body;
        const { slug } = request.principal;
        const wanted = { slug, ...line, limits: given(limits ?? {}), withinCaps: true, by: changedBy(request) };
        return refusing('line_not_found', addLine(once, sealer, wanted));
      },
      answer: (line) => ({
        status: 201,
        body: { success: true, phoneNumber: line },
        headers: { etag: etagOf(stateOf(line)) },
      }),
    }),
  );

  app.get(one, { onRequest: guard('settings:read'), schema: { params: lineParams } }, async (request, reply) => {
    const named = { slug: request.principal.slug, lineId: request.params.lineId };
    const line = await refusing('line_not_found', readLine(database, named));
    reply.header('etag', etagOf(stateOf(line)));
    return line;
  });

  app.patch(one, { ...writing, schema: { params: lineParams, body: lineChangeBody } }, async (request, reply) => {
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
    return { success: true, phoneNumber: changed };
  });

  app.put(
    `${one}/credentials`,
    { ...writing, schema: { params: lineParams, body: credentialsBody } },
    async (request, reply) => {
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
      return { success: true, phoneNumber: changed };
    },
  );

  app.delete(one, { ...writing, schema: { params: lineParams } }, async (request) => {
    const { lineId } = request.params;
    const { slug } = request.principal;
    const expect = expectMatch(request, stateOf);
    await refusing('line_not_found', removeLine(database, { slug, lineId, by: changedBy(request), expect }));
    return { success: true, lineId };
  });
}

const stateOf = ({ number, carrier, hasCredentials, limits }: PhoneLine): object => ({
  number,
  carrier,
  hasCredentials,
  limits,
});

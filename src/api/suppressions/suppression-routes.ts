/** `/api/developer/suppressions` (contract §15): the numbers that must not be dialled; list, add, remove. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { normalisePhone, readPhoneFields } from '../../leads/phone-number.ts';
import type { Database } from '../../store/database.ts';
import { isStorable } from '../../store/storable.ts';
import { addToList, takeOffList } from '../../suppressions/change-list.ts';
import {
  type ListedSuppression,
  listSuppressions,
  type Suppression,
  suppressionVersion,
} from '../../suppressions/suppression-list.ts';
import type { CursorCodec } from '../cursor.ts';
import { changedBy, type Guard } from '../guard.ts';
import { objectBody } from '../leads/lead-request.ts';
import { json } from '../openapi/operation.ts';
import { anyOf, page, phone } from '../query-values.ts';
import { Refusal } from '../refusal.ts';
import { routesOn } from '../route.ts';
import { suppressedAnswer, suppressionsAnswer, unsuppressedAnswer } from './answers.ts';

export interface SuppressionRouteDeps {
  database: Database;
  cursors: CursorCodec;
}

export const SUPPRESSIONS_PATH = '/api/developer/suppressions';
const MOST_NUMBERS = 1_000;
const LONGEST_REASON = 200;

export const suppressionsQuery = z.object({ phone: anyOf(phone, 'The number, like +14155550123'), ...page() });
export const unsuppressQuery = z.object({ phone });

const number = z.string().meta({ description: 'International form', example: '+14155550123' });
/** As published; checked below, so that the codes are those of leads. */
export const suppressionBody = z
  .object({
    phone: number.optional(),
    phones: z.array(number).min(1).max(MOST_NUMBERS).optional(),
    reason: z.string().max(LONGEST_REASON).nullish(),
  })
  .meta({ id: 'NewSuppression', description: '`phone` for one number, or `phones` for up to 1,000.' });

export function registerSuppressions(app: FastifyInstance, guard: Guard, deps: SuppressionRouteDeps): void {
  const route = routesOn(app, guard);
  const { database, cursors } = deps;

  route({
    method: 'get',
    path: SUPPRESSIONS_PATH,
    id: 'listSuppressions',
    tag: 'Leads',
    summary: 'The numbers that must not be dialled, newest first',
    description: 'In pages. With `phone`: whether this number is among them.',
    scope: 'leads:read',
    query: suppressionsQuery,
    answers: { 200: json('A page.', suppressionsAnswer) },
    errors: ['invalid_cursor'],
    async handler(request) {
      const { cursor, limit, ...filters } = request.query;
      const { workspaceId } = request.principal;
      const scope = { kind: 'suppressions', workspaceId, filters };
      const before = cursor === undefined ? null : (cursors.decode(scope, cursor)[0] ?? null);
      const found = await listSuppressions(database, workspaceId, { ...filters, before, limit: limit + 1 });
      const shown = found.slice(0, limit);
      return {
        data: shown.map(viewOf),
        nextCursor: found.length > limit ? cursors.encode(scope, [shown.at(-1)!.id]) : null,
        version: await suppressionVersion(database, workspaceId),
      };
    },
  });

  route({
    method: 'post',
    path: SUPPRESSIONS_PATH,
    id: 'suppress',
    tag: 'Leads',
    summary: 'Put numbers on the list',
    description: 'Holds for every call that begins after the answer. A number that is there already stays as it is.',
    scope: 'leads:write',
    ownBody: suppressionBody,
    answers: {
      200: json('All of them were there.', suppressedAnswer),
      201: json('They are on the list.', suppressedAnswer),
    },
    errors: ['missing_fields', 'conflicting_phone_fields', 'invalid_phone'],
    async handler(request, reply) {
      const { workspaceId } = request.principal;
      const given = objectBody(request.body);
      if (given === null) throw new Refusal(request.body === undefined ? 'invalid_json' : 'missing_fields');
      const numbers = readNumbers(given);
      const reason = readReason(given['reason']);
      const by = changedBy(request);
      const added = await addToList(database, { workspaceId, numbers, by, reason, source: 'api' });
      return reply.code(added > 0 ? 201 : 200).send({ success: true, added, known: new Set(numbers).size - added });
    },
  });

  route({
    method: 'delete',
    path: SUPPRESSIONS_PATH,
    id: 'unsuppress',
    tag: 'Leads',
    summary: 'Take a number off the list',
    description: 'Also one that came there by a call: have a reason.',
    scope: 'leads:write',
    query: unsuppressQuery,
    answers: { 200: json('It may be dialled.', unsuppressedAnswer) },
    errors: ['suppression_not_found'],
    async handler(request) {
      const { workspaceId } = request.principal;
      const numbers = [request.query.phone];
      const removed = await takeOffList(database, { workspaceId, numbers, by: changedBy(request) });
      if (removed === 0) throw new Refusal('suppression_not_found');
      return { success: true, phone: request.query.phone };
    },
  });
}

function readNumbers(given: Record<string, unknown>): string[] {
  const { phones } = given;
  if (phones === undefined) {
    const reading = readPhoneFields(given);
    if (!reading.ok) throw new Refusal(reading.code);
    return [reading.phone];
  }
  if (!Array.isArray(phones) || phones.length === 0 || phones.length > MOST_NUMBERS) {
    const issue = `must be a list of 1 to ${MOST_NUMBERS} numbers`;
    throw new Refusal('invalid_request', { details: [{ field: 'phones', issue }] });
  }
  const numbers = phones.map((text: unknown) => normalisePhone(text));
  const faults = numbers.flatMap((number, index) =>
    number === null ? [{ field: `phones.${index}`, issue: 'is no number in international form' }] : [],
  );
  if (faults.length > 0) throw new Refusal('invalid_phone', { details: faults.slice(0, 100) });
  return numbers as string[];
}

function readReason(value: unknown): string | null {
  if (value === undefined || value === null || value === '') return null;
  if (typeof value === 'string' && [...value].length <= LONGEST_REASON && isStorable(value)) return value;
  const issue = `must be a string of at most ${LONGEST_REASON} characters`;
  throw new Refusal('invalid_request', { details: [{ field: 'reason', issue }] });
}

function viewOf({ id: _id, ...entry }: ListedSuppression): Suppression {
  return entry;
}

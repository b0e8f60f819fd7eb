/**
 * `/api/developer/prices`, for the operator's key alone: what units of providers cost, of which the call log makes the
 * cost of a call. The rules are `src/usage/prices.ts`; the command line runs the same functions.
 */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { PROVIDER_NAMES } from '../../../media/contract/providers.ts';
import { USAGE_UNIT_NAMES, USAGE_UNITS } from '../../../media/contract/usage.ts';
import type { Database } from '../../store/database.ts';
import { listPrices, setPrice } from '../../usage/prices.ts';
import type { Guard } from '../guard.ts';
import { json } from '../openapi/operation.ts';
import { byOperator } from '../operator/operator-guard.ts';
import { routesOn } from '../route.ts';
import { refusing } from '../settings/setting-refusal.ts';
import { pricesAnswer, storedPriceAnswer } from './answers.ts';

export const PRICES_PATH = '/api/developer/prices';

const units = USAGE_UNIT_NAMES.map((unit) => `${unit}: ${USAGE_UNITS[unit].about}`).join('; ');

export const priceBody = z
  .strictObject({
    provider: z.enum(PROVIDER_NAMES),
    model: z
      .string()
      .min(1)
      .max(120)
      .meta({ description: 'As the provider names it; `*`: all without a price of their own' }),
    unit: z.enum(USAGE_UNIT_NAMES).meta({ description: `What it is for: ${units}` }),
    priceMicros: z
      .number()
      .min(0)
      .max(1e12)
      .nullable()
      .meta({ description: 'Millionths of the currency; null: no price from then on' }),
    currency: z
      .string()
      .regex(/^[A-Z]{3}$/, 'must be three capital letters, like USD')
      .optional()
      .meta({ description: 'One for all prices; the first must name it' }),
    effectiveAt: z.iso
      .datetime({ offset: true, error: 'must be a time like 2027-01-01T00:00:00Z' })
      .optional()
      .meta({ description: 'Default now. In the past: calls since then cost it too' }),
  })
  .meta({ id: 'NewPrice' });

export const pricesQuery = z.object({
  history: z.enum(['true', 'false']).optional().meta({ description: '`true`: also what held before' }),
});

export function registerPrices(app: FastifyInstance, guard: Guard, { database }: { database: Database }): void {
  const route = routesOn(app, guard);

  route({
    method: 'get',
    path: PRICES_PATH,
    id: 'listPrices',
    tag: 'Operator',
    summary: 'What units of providers cost',
    description: 'What holds now and what will hold, of the whole service. Empty until the operator fills it.',
    scope: 'operator',
    query: pricesQuery,
    answers: { 200: json('All of them.', pricesAnswer) },
    handler: async (request) => ({
      data: await listPrices(database, { history: request.query.history === 'true' }),
      nextCursor: null,
    }),
  });

  route({
    method: 'post',
    path: PRICES_PATH,
    id: 'setPrice',
    tag: 'Operator',
    summary: 'Set a price from a time on',
    description: 'It is a version of its own: what calls cost before stays as it was.',
    scope: 'operator',
    body: priceBody,
    answers: { 201: json('The price.', storedPriceAnswer) },
    errors: ['setting_refused'],
    async handler(request, reply) {
      const { effectiveAt, ...price } = request.body;
      const at = effectiveAt === undefined ? undefined : new Date(effectiveAt);
      const set = setPrice(database, { ...price, effectiveAt: at, by: byOperator(request) });
      return reply.code(201).send({ success: true, price: await refusing('not_found', set) });
    },
  });
}

/** What the routes of prices answer, as zod schemas for the published document. */
import { z } from 'zod';
import { USAGE_UNIT_NAMES } from '../../../media/contract/usage.ts';
import { time, wholeList } from '../openapi/shared-answers.ts';

export const priceAnswer = z
  .strictObject({
    provider: z.string(),
    model: z.string().describe('`*`: all that have no price of their own'),
    unit: z.enum(USAGE_UNIT_NAMES),
    version: z.int(),
    priceMicros: z.number().nullable().describe('Millionths of the currency; null: no price from then on'),
    currency: z.string(),
    effectiveAt: time,
  })
  .meta({ id: 'Price' });
export const pricesAnswer = wholeList(priceAnswer).meta({ id: 'Prices' });
export const storedPriceAnswer = z
  .strictObject({ success: z.literal(true), price: priceAnswer })
  .meta({ id: 'StoredPrice' });

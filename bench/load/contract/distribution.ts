/** A distribution as it is written to JSON: enough for a table, a plot and a comparison, without the values. */
import { z } from 'zod';

export const distributionSchema = z.strictObject({
  count: z.number().int().min(0),
  /** Null where nothing was counted. */
  min: z.number().nullable(),
  mean: z.number().nullable(),
  p50: z.number().nullable(),
  p90: z.number().nullable(),
  p95: z.number().nullable(),
  p99: z.number().nullable(),
  p999: z.number().nullable(),
  max: z.number().nullable(),
  /** `[upTo, count]`, rising: values above the bucket before and not above `upTo`. Empty buckets are left out. */
  buckets: z.array(z.tuple([z.number(), z.number().int().positive()])),
});

export type Distribution = z.output<typeof distributionSchema>;

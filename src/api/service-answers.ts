/** What probes are answered, as zod schemas for the published document. */
import { z } from 'zod';

export const aliveAnswer = z
  .strictObject({ status: z.literal('ok'), instance: z.string().describe('Another after each start of control') })
  .meta({ id: 'Alive' });

export const readyAnswer = z
  .strictObject({ status: z.enum(['ok', 'unavailable']) })
  .meta({ id: 'Ready', description: 'Which check fails, `parley doctor` and the private port tell.' });

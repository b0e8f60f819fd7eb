/** What probes are answered, as zod schemas for the published document. */
import { z } from 'zod';

export const aliveAnswer = z
  .strictObject({ status: z.literal('ok'), instance: z.string().describe('Another after each start of control') })
  .meta({ id: 'Alive' });

export const readyAnswer = z
  .strictObject({
    status: z.enum(['ok', 'unavailable']),
    checks: z.record(z.string(), z.strictObject({ ok: z.boolean(), detail: z.string() })),
  })
  .meta({
    id: 'Ready',
    description: '`media` names the processes that are connected and the socket server that they run.',
  });

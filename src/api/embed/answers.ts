/** What the embed session takes and answers, as zod schemas for the published document. */
import { z } from 'zod';

export const sessionBody = z
  .object({
    publicKey: z.string().min(1).meta({ description: 'The public widget key', example: 'pk_f3Kq81…' }),
    agentId: z.string().min(1).meta({ description: 'UUID of an agent for the web' }),
    parentOrigin: z
      .string()
      .min(1)
      .meta({ description: '`location.origin` of the page', example: 'https://example.com' }),
  })
  .meta({ id: 'EmbedSessionRequest' });

export const sessionAnswer = z
  .strictObject({ token: z.string().describe('JWT: opens one socket at /ws/live within 60 s') })
  .meta({ id: 'EmbedSession' });

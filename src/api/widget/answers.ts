/** What browsers fetch without a key, for the published document. */
import { z } from 'zod';
import type { Answer } from '../openapi/operation.ts';

export const script: Answer = {
  description: 'The file.',
  content: { 'text/javascript': z.string(), 'text/css': z.string() },
};
export const unchanged: Answer = { description: 'Not changed (If-None-Match).', content: {} };
export const page: Answer = { description: 'The page.', content: { 'text/html': z.string() } };
export const versionsAnswer = z
  .object({
    current: z.string(),
    versions: z.array(z.object({ version: z.string(), src: z.url(), integrity: z.string().startsWith('sha384-') })),
  })
  .meta({ id: 'EmbedVersions' });

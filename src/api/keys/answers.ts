/** What the routes of API keys answer, as zod schemas for the published document. */
import { z } from 'zod';
import { SCOPES } from '../../workspaces/api-keys.ts';
import { time, wholeList } from '../openapi/shared-answers.ts';

export const keyAnswer = z
  .strictObject({
    keyId: z.string().describe('The eight public characters of the key'),
    name: z.string(),
    scopes: z.array(z.enum(SCOPES)),
    allowedCidrs: z.array(z.string()).describe('Empty: from anywhere'),
    expiresAt: time.nullable(),
    revokedAt: time.nullable(),
    lastUsedAt: time.nullable().describe('To the minute'),
    createdAt: time,
  })
  .meta({ id: 'ApiKey' });

export const keysAnswer = wholeList(keyAnswer).meta({ id: 'ApiKeys' });

const secret = z.string().describe('The key itself, this once: `sv_live_…`');
export const newKeyAnswer = z
  .strictObject({ success: z.literal(true), key: keyAnswer, secret })
  .meta({ id: 'NewApiKey' });
export const rotatedKeyAnswer = z
  .strictObject({
    success: z.literal(true),
    key: keyAnswer.describe('The new one'),
    replaced: keyAnswer.describe('The old one, valid until `expiresAt`'),
    secret,
  })
  .meta({ id: 'RotatedApiKey' });
export const storedKeyAnswer = z
  .strictObject({ success: z.literal(true), key: keyAnswer })
  .meta({ id: 'StoredApiKey' });

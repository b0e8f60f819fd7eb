/** What `GET /api/developer/audit` answers, as a zod schema for the published document. */
import { z } from 'zod';
import { time } from '../openapi/shared-answers.ts';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

export const auditAnswer = z
  .strictObject({
    data: z.array(
      z
        .strictObject({
          position: z.int().describe('Its number in the chain of the workspace, from 1'),
          at: time,
          actor: z
            .string()
            .describe(
              '`key:` and its public id, `user:` and the id of a person, `cli:` and a name, or `system:` and a part',
            ),
          actorName: z.string().nullable().describe('What a person is called'),
          action: z.string(),
          target: z.string(),
          ip: z.string().nullable(),
          requestId: z.string().nullable(),
          before: z.unknown(),
          after: z.unknown(),
          prevHash: sha256.describe('`hash` of the row before'),
          hash: sha256.describe('Over all of this row and `prevHash`'),
        })
        .meta({ id: 'AuditRow' }),
    ),
    nextCursor: z.string().nullable(),
  })
  .meta({ id: 'Audit' });

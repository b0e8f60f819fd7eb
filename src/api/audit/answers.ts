/** What the routes of the audit answer, as zod schemas for the published document. */
import { z } from 'zod';
import { AUDIT_FAULT_KINDS } from '../../audit/verify-chain.ts';
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

export const auditVerificationAnswer = z
  .strictObject({
    ok: z.boolean(),
    rows: z.int(),
    end: z
      .strictObject({ position: z.int(), hash: sha256 })
      .describe('Note it elsewhere, to prove later that nothing before it was changed'),
    seals: z.int().describe('Signatures of the service over the chain so far, which were compared'),
    faults: z
      .array(
        z.strictObject({
          position: z.int(),
          kind: z.enum(AUDIT_FAULT_KINDS),
          id: z.string().nullable().describe('Of the row that stands there now'),
          toPosition: z.int().optional(),
          belongsAt: z.int().optional().describe('Where a moved row was linked'),
        }),
      )
      .describe('The first hundred'),
    moreFaults: z.boolean(),
    ms: z.int(),
  })
  .meta({ id: 'AuditVerification' });

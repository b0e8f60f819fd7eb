/** What the operator's routes answer, as zod schemas for the published document. */
import { z } from 'zod';
import { time, uuid, wholeList } from '../openapi/shared-answers.ts';

const limits = {
  concurrentCalls: z.int(),
  callsPerSecond: z.int(),
  apiRequestsPerSecond: z.int(),
  apiBurst: z.int(),
  webSessions: z.int(),
};

export const workspaceAnswer = z
  .strictObject({
    id: uuid,
    slug: z.string().describe('What requests call `enterprise`'),
    name: z.string(),
    apiEnabled: z.boolean().describe('While false, every key of the workspace is refused and none can be made'),
    limits: z.strictObject({ ...limits, reservedPhoneCalls: z.int() }),
    caps: z.strictObject(limits).describe('The most that the workspace may set its limits to'),
    createdAt: time,
  })
  .meta({ id: 'Workspace' });

export const workspacesAnswer = wholeList(workspaceAnswer).meta({ id: 'Workspaces' });
export const storedWorkspaceAnswer = z
  .strictObject({ success: z.literal(true), workspace: workspaceAnswer })
  .meta({ id: 'StoredWorkspace' });

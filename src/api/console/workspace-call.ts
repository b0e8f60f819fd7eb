/** One call of a workspace, as the console's own operations name it. */
import { z } from 'zod';
import { callParams } from '../calls/call-routes.ts';
import { WORKSPACE_PATH } from './second-door.ts';

export const WORKSPACE_CALL_PATH = `${WORKSPACE_PATH}/calls/:callUuid`;

export const workspaceCallParams = z.object({ enterprise: z.string() }).extend(callParams.shape);

/** `/api/console/w/{enterprise}/calls/{callUuid}/peaks`: the outline of a recording's sound, for the player. */
import type { FastifyInstance } from 'fastify';
import { readCall } from '../../calls/call-row.ts';
import type { SoundFile } from '../../recordings/sound-files.ts';
import type { Guard } from '../guard.ts';
import { json } from '../openapi/operation.ts';
import { type RecordingRouteDeps, toldAsRefusal } from '../recordings/recording-routes.ts';
import { Refusal } from '../refusal.ts';
import { routesOn } from '../route.ts';
import { peaksAnswer } from './answers.ts';
import { WORKSPACE_CALL_PATH, workspaceCallParams } from './workspace-call.ts';

async function wholeOf(sound: SoundFile): Promise<Buffer[]> {
  const pieces: Buffer[] = [];
  for await (const piece of sound.range(0, sound.sizeBytes)) pieces.push(piece);
  return pieces;
}

export function registerPeaks(app: FastifyInstance, guard: Guard, deps: Omit<RecordingRouteDeps, 'links'>): void {
  const route = routesOn(app, guard);
  route({
    method: 'get',
    path: `${WORKSPACE_CALL_PATH}/peaks`,
    id: 'readPeaks',
    tag: 'Console',
    summary: 'How loud the two sides of a recording are, stretch by stretch',
    description: 'Made when it is first asked for, in a second or two, and kept for an hour.',
    scope: 'person',
    right: 'recordings:read',
    params: workspaceCallParams,
    answers: { 200: json('The peaks.', peaksAnswer) },
    errors: [
      ...(['call_not_found', 'invalid_call_id', 'recording_not_ready', 'recording_busy'] as const),
      ...(['recording_store_unavailable', 'recording_unreadable'] as const),
    ],
    async handler(request, reply) {
      const { callUuid } = request.params;
      const call = await readCall(deps.database, request.principal.workspaceId, callUuid);
      if (call === undefined) throw new Refusal('call_not_found');
      const target = { callUuid, part: null, variant: 'stereo', format: 'peaks' } as const;
      const made = await toldAsRefusal(() => deps.sounds.open(target));
      if (made === null) throw new Refusal('recording_not_ready');
      try {
        const pieces = await toldAsRefusal(() => wholeOf(made));
        return reply.type('application/json; charset=utf-8').serializer(String).send(Buffer.concat(pieces).toString());
      } finally {
        await made.close();
      }
    },
  });
}

/** `GET /api/developer/calls` (contract §13): the call log in pages, newest first, each entry as it is read alone. */
import type { FastifyInstance } from 'fastify';
import { type CallPlace, searchCalls } from '../../call-log/call-log-search.ts';
import type { RecordingLinks } from '../../recordings/recording-links.ts';
import type { Database } from '../../store/database.ts';
import type { CursorCodec, CursorScope } from '../cursor.ts';
import type { Guard } from '../guard.ts';
import { json } from '../openapi/operation.ts';
import { routesOn } from '../route.ts';
import { callsAnswer } from './answers.ts';
import { linkLifeFor, readCallViews } from './call-view.ts';
import { listQuery, readListQuery } from './list-query.ts';

export interface CallListDeps {
  database: Database;
  cursors: CursorCodec;
  links: RecordingLinks;
}

export function registerCallList(app: FastifyInstance, guard: Guard, deps: CallListDeps): void {
  const route = routesOn(app, guard);
  route({
    method: 'get',
    path: '/api/developer/calls',
    id: 'listCalls',
    tag: 'Calls',
    summary: 'The call log',
    description:
      'Newest first. Several filters must all hold. A call is in the list from its placement on; its transcript is searched once it has ended.',
    scope: 'calls:read',
    query: listQuery,
    answers: { 200: json('A page.', callsAnswer) },
    errors: ['invalid_cursor'],
    async handler(request) {
      const { workspaceId } = request.principal;
      const { filters, limit, cursor } = readListQuery(request.query);
      const scope: CursorScope = { kind: 'calls', workspaceId, filters };
      const after = cursor === null ? null : placeOf(deps.cursors.decode(scope, cursor));
      const page = await searchCalls(deps.database, { workspaceId, filters, after, limit });
      return {
        data: await readCallViews({ ...deps, linkLifeMs: linkLifeFor(request.principal) }, workspaceId, page.callUuids),
        nextCursor:
          page.next === null ? null : deps.cursors.encode(scope, [page.next.createdAtMicros, page.next.callUuid]),
      };
    },
  });
}

function placeOf([createdAtMicros, callUuid]: readonly string[]): CallPlace {
  return { createdAtMicros: createdAtMicros!, callUuid: callUuid! };
}

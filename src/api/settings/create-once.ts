/**
 * Makes a thing once per `Idempotency-Key`: the answer is stored in the transaction that makes the thing, so that a
 * process which dies between the two does not make it twice. It may hold a secret that is shown once, so it is stored
 * sealed. Without the header the work only runs.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { isTooDeep } from '../../../media/contract/json-depth.ts';
import { sealedPlace } from '../../sealing/sealed-places.ts';
import type { Sealer } from '../../sealing/sealer.ts';
import type { Database } from '../../store/database.ts';
import { finishIdempotent, type IdempotencyScope } from '../../store/idempotency-keys.ts';
import { beginExchange, idempotencyKeyOf } from '../outbound-call/idempotent-exchange.ts';
import { type Answer, sendStored } from '../outbound-call/stored-answer.ts';
import { Refusal } from '../refusal.ts';

export interface CreateOnceDeps {
  database: Database;
  log: Logger;
  sealer: Sealer;
}

export async function createOnce<Made>(
  deps: CreateOnceDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  args: {
    /** What a repeat must have in common with the first request; default its body, which is JSON. */
    asked?: unknown;
    /** Uses this database; what its one transaction returns is what it returns. */
    run(database: Database): Promise<Made>;
    answer(made: Made): { status: number; body: unknown; headers?: Record<string, string> };
  },
): Promise<FastifyReply> {
  const body = args.asked ?? request.body ?? null;
  if (isTooDeep(body)) throw new Refusal('invalid_json');
  const key = idempotencyKeyOf(request.headers['idempotency-key']);
  const path = request.url.split('?', 1)[0] ?? '';
  const { workspaceId } = request.principal;
  const scope = key === null ? null : { workspaceId, methodPath: `${request.method} ${path}`, key };
  const place = sealedPlace.storedAnswer(scope ?? { workspaceId, methodPath: '', key: '' });
  const sealed = (made: Made): Answer => {
    const { status, body: shown, headers = {} } = args.answer(made);
    const text = deps.sealer.seal(JSON.stringify(shown), place).toString('base64');
    return { status, body: text, headers, callUuid: null, outcomeUnknown: false };
  };
  const database = scope === null ? deps.database : finishing(deps.database, scope, sealed);
  const exchange = await beginExchange(deps, scope, body);
  const stored = exchange.answer ?? (await exchange.settle(args.run(database).then(sealed)));
  return sendStored(reply, { ...stored, body: deps.sealer.open(Buffer.from(stored.body, 'base64'), place) });
}

function finishing<Made>(database: Database, scope: IdempotencyScope, answer: (made: Made) => Answer): Database {
  return {
    query: (sql, parameters) => database.query(sql, parameters),
    close: () => database.close(),
    transaction: (work, options) =>
      database.transaction(async (tx) => {
        const made = await work(tx);
        await finishIdempotent(tx, scope, answer(made as unknown as Made), null);
        return made;
      }, options),
  };
}

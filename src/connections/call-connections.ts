/**
 * What media gets for a call of the connections that its agent names, when the phone is to ring and when a stream is
 * claimed. A connection that cannot be granted is left out and told to the operator: the agent does without it, and its
 * call log says so. Made by `control/media-places.ts`.
 */
import type { Logger } from 'pino';
import type { AgentDefinition } from '../../media/contract/agent-definition.ts';
import type { ConnectionGrant } from '../../media/contract/grant.ts';
import { lockCall, patchCall, readOwnCall } from '../calls/call-row.ts';
import { type CallWarning, withWarning } from '../calls/call-warnings.ts';
import type { Sealer } from '../sealing/sealer.ts';
import type { Database } from '../store/database.ts';
import { connectionsNamedIn } from './connection-uses.ts';
import { connectionsOfCall } from './grants.ts';

/** The connection is not there any more, or its key cannot be read. */
const MISSING = 'connection_missing';

export interface CallConnections {
  /** Undefined: the agent names none. Rejects when the database is away. */
  forCall(callUuid: string, agent: AgentDefinition): Promise<readonly ConnectionGrant[] | undefined>;
}

export function createCallConnections(deps: {
  database: Database;
  sealer: Pick<Sealer, 'open'>;
  log: Logger;
}): CallConnections {
  const { database, sealer, log } = deps;
  return {
    async forCall(callUuid, agent) {
      const names = namesIn(agent);
      if (names.length === 0) return undefined;
      const call = await readOwnCall(database, callUuid);
      if (call === undefined) return undefined;
      const { workspaceId } = call;
      const { grants, missing } = await connectionsOfCall(database, sealer, { workspaceId, callUuid }, names);
      for (const { name, why } of missing) {
        log.warn({ callUuid, connection: name, why }, 'a call begins without a connection that its agent names');
      }
      if (missing.length > 0)
        await warnOf(
          database,
          callUuid,
          missing.map(({ name }) => name),
        );
      return grants;
    },
  };
}

/** In the call's entry, once a connection: it is asked for when the phone is to ring, and again by each stream. */
async function warnOf(database: Database, callUuid: string, names: readonly string[]): Promise<void> {
  await database.transaction(async (tx) => {
    const call = await lockCall(tx, callUuid);
    if (call === undefined) return;
    const isTold = (name: string): boolean =>
      call.warnings.some((one) => typeof one !== 'string' && one.code === MISSING && one.key === name);
    const untold = names.filter((name) => !isTold(name));
    if (untold.length === 0) return;
    const warnings = untold.reduce<readonly CallWarning[]>(
      (all, key) => withWarning(all, { code: MISSING, key }),
      call.warnings,
    );
    await patchCall(tx, callUuid, { warnings: [...warnings] });
  });
}

/** Of connections, each once. */
export function namesIn(agent: AgentDefinition): string[] {
  return [...new Set(connectionsNamedIn(agent).map(({ connection }) => connection))];
}

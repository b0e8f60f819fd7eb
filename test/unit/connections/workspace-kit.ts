/**
 * Two workspaces with an agent and a line each on a fresh database, for tests of connections and of what calls used.
 */
import { v7 as uuidv7 } from 'uuid';
import { openPatientDatabase } from '../../../bench/harness/patient-database.ts';
import { importAgent } from '../../../src/agents/stored-agents.ts';
import { createSealer, type Sealer } from '../../../src/sealing/sealer.ts';
import type { Database } from '../../../src/store/database.ts';
import { createWorkspace } from '../../../src/workspaces/workspaces.ts';
import { sampleAgent } from '../../support/sample-agent.ts';
import { createTestDatabase } from '../../support/test-database.ts';

export interface WorkspaceKit {
  database: Database;
  sealer: Sealer;
  acme: string;
  other: string;
  /** An agent of acme's. */
  agentId: string;
  call(workspaceId: string, change?: { endedAt?: string }): Promise<string>;
  /** Another version of acme's agent, which nobody has checked. */
  giveDefinition(definition: object): Promise<void>;
  close(): Promise<void>;
}

export async function createWorkspaceKit(): Promise<WorkspaceKit> {
  const test = await createTestDatabase();
  const database = openPatientDatabase(test.connectionString, 4);
  const { id: acme } = await createWorkspace(database, { slug: 'acme', name: 'Acme' });
  const { id: other } = await createWorkspace(database, { slug: 'other', name: 'Other' });
  const agent = await importAgent(database, { slug: 'acme', definition: sampleAgent() });
  return {
    database,
    sealer: createSealer('ab'.repeat(32)),
    acme,
    other,
    agentId: agent.id,
    async call(workspaceId, { endedAt } = {}) {
      const callUuid = uuidv7();
      await database.query(
        `INSERT INTO calls (call_uuid, workspace_id, agent_id, agent_version, to_number, from_number, name, request_id, status, carrier, channel, ended_at)
         VALUES ($1, $2, $3, 1, '+14155550100', '+14155550101', 'Kit', 'kit', $4, 'web', 'web', $5)`,
        [callUuid, workspaceId, agent.id, endedAt === undefined ? 'in_progress' : 'completed', endedAt ?? null],
      );
      return callUuid;
    },
    async giveDefinition(definition) {
      await database.query('UPDATE agent_versions SET definition = $2 WHERE agent_id = $1', [
        agent.id,
        JSON.stringify(definition),
      ]);
    },
    async close() {
      await database.close();
      await test.close();
    },
  };
}

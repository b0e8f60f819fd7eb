/**
 * A widget key and a web agent in a running gateway, and tokens for its pages: what a test or a bench needs before it
 * can open a socket.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentDefinition } from '../../media/contract/agent-definition.ts';
import { importAgent } from '../../src/agents/stored-agents.ts';
import { createWidgetKey } from '../../src/embed/widget-keys.ts';
import { openPatientDatabase } from '../harness/patient-database.ts';

export interface WebAccess {
  publicKey: string;
  agentId: string;
  /**
   * Asks as a page of `origin` does, and again when it asked too often. Throws with the status
   * and the code of any other refusal.
   */
  token(): Promise<string>;
}

export async function makeWebAccess(
  gateway: { baseUrl: string; databaseUrl: string; enterprise: string },
  agent: AgentDefinition,
  origin: string,
): Promise<WebAccess> {
  const database = openPatientDatabase(gateway.databaseUrl);
  try {
    const slug = gateway.enterprise;
    const { publicKey } = await createWidgetKey(database, { slug, name: 'test page', allow: [origin] });
    const { id: agentId } = await importAgent(database, { slug, definition: agent });
    return {
      publicKey,
      agentId,
      async token() {
        for (;;) {
          const answer = await fetch(`${gateway.baseUrl}/api/embed/session`, {
            method: 'POST',
            headers: { 'content-type': 'application/json', origin },
            body: JSON.stringify({ publicKey, agentId, parentOrigin: origin }),
          });
          const body = (await answer.json()) as { token?: string };
          if (body.token !== undefined) return body.token;
          const code = answer.headers.get('x-error-code');
          if (code !== 'embed_rate_limit') throw new Error(`${answer.status} ${code}`);
          await sleep(Number(answer.headers.get('retry-after')) * 1000);
        }
      },
    };
  } finally {
    await database.close();
  }
}

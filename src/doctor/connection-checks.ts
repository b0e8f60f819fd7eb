/**
 * The connections that agents name in their current versions: whether they are there, and whether their providers serve
 * them. One real request each, from this command line.
 */
import { systemClock } from '../../media/contract/clock.ts';
import type { AddressGuard } from '../../media/net/address-guard.ts';
import { createGuardedClient } from '../../media/net/guarded-client.ts';
import { connectionsNamedIn } from '../connections/connection-uses.ts';
import { tryConnection } from '../connections/provider-trial.ts';
import type { Sealer } from '../sealing/sealer.ts';
import type { Queryable } from '../store/database.ts';
import { type CheckResult, ok, warn } from './check.ts';

const NAME = 'connections';
/** More than these are not tried: each is a request to a provider. */
const MOST_TRIED = 20;
const SHOWN_AGENTS = 3;

interface Named {
  slug: string;
  name: string;
  isThere: boolean;
  agents: string[];
}

export async function checkConnections(
  database: Queryable,
  sealer: Pick<Sealer, 'open'> | null,
  guard: AddressGuard,
): Promise<CheckResult[]> {
  const named = await namedByAgents(database);
  if (named.length === 0) return [];
  const missing = named
    .filter(({ isThere }) => !isThere)
    .map(({ slug, name, agents }) =>
      warn(
        NAME,
        `'${name}' of workspace '${slug}' is not there, and ${shown(agents)} cannot do without`,
        `Add it: parley connection add ${slug} ${name} …; or give the agent another: parley agent import ${slug} <file> --id …`,
      ),
    );
  const there = named.filter(({ isThere }) => isThere);
  if (sealer === null || there.length === 0) return missing;
  const http = createGuardedClient({ guard, clock: systemClock });
  try {
    const tried = await Promise.all(
      there.slice(0, MOST_TRIED).map(async ({ slug, name, agents }): Promise<CheckResult[]> => {
        const trial = await tryConnection(database, sealer, { http, clock: systemClock }, { slug, name });
        if (trial.ok) return [];
        const detail = `'${name}' of workspace '${slug}', for ${shown(agents)}, does not serve (${trial.fault}): ${trial.problem}`;
        return [warn(NAME, detail, `Try it again with: parley connection test ${slug} ${name}`)];
      }),
    );
    const faults = [...missing, ...tried.flat()];
    const count = Math.min(there.length, MOST_TRIED);
    const rest = there.length > count ? `; ${there.length - count} more were not tried` : '';
    return faults.length > 0
      ? faults
      : [ok(NAME, `${count} that agents name ${count === 1 ? 'serves' : 'serve'}${rest}`)];
  } finally {
    await http.close();
  }
}

/** Each once, in the order of workspaces and names. */
async function namedByAgents(database: Queryable): Promise<Named[]> {
  const rows = await database.query<{ slug: string; agent: string; definition: unknown; there: string[] }>(
    `SELECT w.slug, a.name AS agent, v.definition,
            ARRAY(SELECT p.name FROM provider_connections p
                   WHERE p.workspace_id = w.id AND p.replaced_at IS NULL)::text[] AS there
       FROM agents a JOIN workspaces w ON w.id = a.workspace_id
       JOIN agent_versions v ON v.agent_id = a.id AND v.version = a.current_version
      WHERE a.deleted_at IS NULL ORDER BY w.slug, a.id`,
  );
  const named = new Map<string, Named>();
  for (const { slug, agent, definition, there } of rows) {
    for (const { connection } of connectionsNamedIn(definition)) {
      const key = `${slug} ${connection}`;
      const known = named.get(key) ?? { slug, name: connection, isThere: there.includes(connection), agents: [] };
      if (!known.agents.includes(agent)) known.agents.push(agent);
      named.set(key, known);
    }
  }
  return [...named.values()];
}

function shown(agents: readonly string[]): string {
  const names = agents.slice(0, SHOWN_AGENTS).map((name) => `"${name}"`);
  const more = agents.length - names.length;
  return `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

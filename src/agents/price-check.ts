/**
 * Whether the models of an agent with a limit of dollars have a price: its own, or the operator's table's, by which the
 * call is counted (`usage/agent-prices.ts`). Called where an agent is stored, for the database alone knows the table.
 */
import type { AgentDefinition } from '../../media/contract/agent-definition.ts';
import { readNewest } from '../connections/connection-rows.ts';
import type { AgentFault } from '../errors/agent-faults.ts';
import type { Queryable } from '../store/database.ts';
import { withTablePrices } from '../usage/agent-prices.ts';

/** Nothing of connections that are not there: that is a fault of its own. */
export async function priceFaultsOf(tx: Queryable, workspaceId: string, agent: AgentDefinition): Promise<AgentFault[]> {
  if (agent.kind !== 'cascade' || agent.limits?.costUsd === undefined) return [];
  const known = await readNewest(
    tx,
    workspaceId,
    agent.think.map(({ connection }) => connection),
  );
  const priced = await withTablePrices(tx, agent, [...known.values()], Date.now());
  if (priced.kind !== 'cascade') return [];
  return priced.think.flatMap(({ connection, model, price }, index) => {
    const provider = known.get(connection)?.provider;
    if (price !== undefined || provider === undefined) return [];
    const problem =
      `is missing, and limits.costUsd needs it; write US dollars a million tokens, or have the operator price the input and ` +
      `output tokens of '${model}' of ${provider} in USD: parley price set`;
    return [{ path: `think[${index}].price`, problem }];
  });
}

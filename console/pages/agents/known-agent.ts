/**
 * What the parts of an agent's page share: the agent with the tag of its state, and what is wrong with a definition.
 */
import type { AgentDetail } from '../../../clients/typescript/src/client.ts';
import type { ParleyError } from '../../../clients/typescript/src/parley-error.ts';

export interface KnownAgent {
  agent: AgentDetail;
  etag: string | null;
}

export interface Fault {
  path: string;
  problem: string;
}

/** The service names them from `definition` on. */
export function faultsIn(error: ParleyError): Fault[] {
  return error.details.map(({ field, issue }) => ({ path: field.replace(/^definition\.?/, ''), problem: issue }));
}

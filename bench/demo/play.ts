/** What a demo plays: an agent, who answers its call, what it needs around it, and how to tell that it happened. */
import type { AgentDefinition } from '../../media/contract/agent-definition.ts';
import type { PersonaInput } from '../emulators/persona.ts';
import type { WantedConnection } from '../harness/gateway.ts';
import type { Evidence } from './evidence.ts';
import type { ToolEndpoint } from './tool-endpoint.ts';

export interface Play {
  agent: AgentDefinition;
  personas: readonly PersonaInput[];
  /** Of the call. */
  metadata: Readonly<Record<string, string>>;
  connections: readonly WantedConnection[];
  /** Of the service. */
  environment: Readonly<Record<string, string>>;
  endpoint: ToolEndpoint;
  /** Of the website: whose it is, and what a visitor may say to the agent. */
  page: { title: string; phrases: readonly string[] };
  /** What a reader should know of it first. */
  about: readonly string[];
  faultsOf(evidence: Evidence): string[];
  close(): Promise<void>;
}

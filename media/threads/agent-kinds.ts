/** The kinds of agents that there are: the one list of them. Used by the pipeline thread. */
import { cascadeKind } from '../agents/cascade/cascade-kind.ts';
import { scriptedKind } from '../agents/scripted/scripted-agent.ts';
import { toneKind } from '../agents/tone/tone-agent.ts';
import type { AgentKind } from '../contract/agent.ts';
import type { AgentDefinition } from '../contract/agent-definition.ts';

const KINDS = { scripted: scriptedKind, cascade: cascadeKind, tone: toneKind };

/** Throws for a kind that this version does not have. */
export function agentKindOf({ kind }: AgentDefinition): AgentKind {
  if (!Object.hasOwn(KINDS, kind)) throw new Error(`there is no kind of agents '${kind}'`);
  // Each is only ever given definitions of its own kind: the definition's `kind` chose it.
  return KINDS[kind] as AgentKind<never> as AgentKind;
}

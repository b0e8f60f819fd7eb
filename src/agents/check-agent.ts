/**
 * Is this JSON an agent that can hold a call? Shape first, then meaning; all faults at once. Called by the import
 * (`src/workspaces/agents.ts`). The media plane trusts what passed here.
 */
import type { AgentDefinition, ScriptedAgent } from '../../media/contract/agent-definition.ts';
import { checkDataSchema } from '../analysis/data-schema.ts';
import { agentDefinitionSchema } from './definition-schema.ts';
import { type AgentFault, pathText } from './faults.ts';
import type { Lexicon } from './lexicon.ts';
import { checkScript } from './script-check.ts';

export type AgentCheck = { ok: true; definition: AgentDefinition } | { ok: false; faults: AgentFault[] };

export function checkAgent(json: unknown, lexicon: Lexicon): AgentCheck {
  const parsed = agentDefinitionSchema.safeParse(json, { reportInput: false });
  if (!parsed.success) {
    return { ok: false, faults: parsed.error.issues.flatMap((issue) => shapeFaults(issue as ShapeIssue)) };
  }
  const definition = parsed.data;
  const faults =
    definition.kind === 'scripted' ? [...checkScript(definition, lexicon), ...analysisFaults(definition)] : [];
  return faults.length > 0 ? { ok: false, faults } : { ok: true, definition };
}

function analysisFaults({ analysis }: ScriptedAgent): AgentFault[] {
  if (analysis?.data === undefined) return [];
  return checkDataSchema(analysis.data).map(({ path, problem }) => ({
    path: path === '' ? 'analysis.data' : `analysis.data.${path}`,
    problem,
  }));
}

interface ShapeIssue {
  code: string;
  path: PropertyKey[];
  message: string;
  keys?: string[];
}

function shapeFaults(issue: ShapeIssue): AgentFault[] {
  if (issue.code === 'unrecognized_keys') {
    return (issue.keys ?? []).map((key) => ({
      path: pathText([...issue.path, key]),
      problem: 'is no field of an agent; take it out, or correct its spelling',
    }));
  }
  return [{ path: pathText(issue.path), problem: issue.message.replace(/^Invalid input: /, '') }];
}

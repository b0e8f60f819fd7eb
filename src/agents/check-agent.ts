/**
 * Is this JSON an agent that can hold a call? Shape first, then meaning; all faults at once. Called by the import
 * (`src/agents/stored-agents.ts`). The media plane trusts what passed here.
 */
import type { AgentDefinition, ScriptedAgent } from '../../media/contract/agent-definition.ts';
import { checkDataSchema } from '../analysis/data-schema.ts';
import { type AgentFault, pathText } from '../errors/agent-faults.ts';
import { toolWarnings } from './agent-warnings.ts';
import { checkCascade } from './cascade-check.ts';
import { agentDefinitionSchema } from './definition-schema.ts';
import type { Lexicon } from './lexicon.ts';
import { repaired, type ShapeIssue } from './repaired.ts';
import { checkScript } from './script-check.ts';

/** `warnings`: what will do, and likely not what it was meant to. */
export type AgentCheck =
  | { ok: true; definition: AgentDefinition; warnings: AgentFault[] }
  | { ok: false; faults: AgentFault[] };

export function checkAgent(json: unknown, lexicon: Lexicon): AgentCheck {
  const parsed = agentDefinitionSchema.safeParse(json, { reportInput: false });
  if (!parsed.success) {
    const issues = [...(parsed.error.issues as ShapeIssue[]), ...issuesBesideKind(json)];
    const faults = issues.flatMap(shapeFaults);
    return { ok: false, faults: [...faults, ...otherFaults(json, issues, faults, lexicon)] };
  }
  const definition = parsed.data;
  const { faults, warnings } = judged(definition, lexicon);
  return faults.length > 0 ? { ok: false, faults } : { ok: true, definition, warnings };
}

function judged(definition: AgentDefinition, lexicon: Lexicon): { faults: AgentFault[]; warnings: AgentFault[] } {
  if (definition.kind === 'tone') return { faults: [], warnings: [] };
  const { faults, warnings } =
    definition.kind === 'cascade'
      ? checkCascade(definition)
      : { faults: checkScript(definition, lexicon), warnings: [] };
  return {
    faults: [...faults, ...analysisFaults(definition)],
    warnings: [...warnings, ...toolWarnings(definition.tools)],
  };
}

function analysisFaults({ analysis }: Pick<ScriptedAgent, 'analysis'>): AgentFault[] {
  if (analysis?.data === undefined) return [];
  return checkDataSchema(analysis.data).map(({ path, problem }) => ({
    path: path === '' ? 'analysis.data' : `analysis.data.${path}`,
    problem,
  }));
}

/** Without a kind nothing else was looked at: what has steps was meant to be scripted, what thinks to converse. */
function issuesBesideKind(json: unknown): ShapeIssue[] {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return [];
  const { kind } = json as { kind?: unknown };
  if (kind === 'scripted' || kind === 'cascade' || kind === 'tone') return [];
  const guess = { ...json, kind: 'steps' in json ? 'scripted' : 'think' in json ? 'cascade' : 'tone' };
  const parsed = agentDefinitionSchema.safeParse(guess, { reportInput: false });
  return parsed.success ? [] : (parsed.error.issues as ShapeIssue[]);
}

/** What would be found if the shape were right; nothing is said twice of one place, nor of what lies in it. */
function otherFaults(
  json: unknown,
  issues: readonly ShapeIssue[],
  told: readonly AgentFault[],
  lexicon: Lexicon,
): AgentFault[] {
  const whole = repaired(json, issues);
  if (whole === null) return [];
  const { agent, isWhole } = whole;
  const paths = told.map(({ path }) => path);
  const isTold = (path: string): boolean =>
    paths.some((one) => path === one || path.startsWith(`${one}.`) || path.startsWith(`${one}[`));
  const data = isTold('analysis.data') ? [] : analysisFaults(agent);
  return [...checkScript(agent, lexicon, isWhole), ...data].filter(({ path }) => !isTold(path));
}

function shapeFaults(issue: ShapeIssue): AgentFault[] {
  if (issue.code === 'unrecognized_keys') {
    return (issue.keys ?? []).map((key) => ({
      path: pathText([...issue.path, key]),
      problem: 'is no field of an agent; take it out, or correct its spelling',
    }));
  }
  const problem = / received undefined$/.test(issue.message)
    ? 'is missing'
    : issue.message.replace(/^Invalid input: /, '');
  return [{ path: pathText(issue.path), problem }];
}

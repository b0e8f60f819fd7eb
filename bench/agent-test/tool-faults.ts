/**
 * What a scenario file says of tools, held against those that the agent has: answers for tools that it lacks or that
 * are missing, uses that can never be. A line a fault, with its path and the way out. Pure; called by `subject.ts`.
 */
import type { AgentDefinition } from '../../media/contract/agent-definition.ts';
import type { ReadFile } from './scenario-file.ts';

/** By the names alone: what stands behind them is the shape's. */
export function toolFaults(definition: AgentDefinition, { json }: ReadFile): string[] {
  const own = ((definition.kind === 'tone' ? undefined : definition.tools) ?? []).map(({ name }) => name);
  const has = own.join(', ') || 'none';
  const namesIn = (holder: unknown): string[] => Object.keys((holder as { tools?: object } | null)?.tools ?? {});
  const scenarios = Array.isArray(json['scenarios']) ? json['scenarios'] : [];
  const answered = (name: string): boolean =>
    namesIn(json).includes(name) || scenarios.every((one) => namesIn(one).includes(name));
  const unanswered = own.filter((name) => !answered(name));
  const strange = new Set([json, ...scenarios].flatMap(namesIn).filter((name) => !own.includes(name)));
  return [
    ...unanswered.map(
      (name) =>
        `tools.${name}: the agent has this tool, and the file does not say how it is answered; add "${name}": { "returns": … }, or "real" to ask its endpoint`,
    ),
    ...[...strange].map(
      (name) => `tools.${name}: the agent has no such tool; it has ${has}: correct its name, or take it out`,
    ),
    ...expectedUses(scenarios).flatMap(({ at, name }) => {
      if (own.includes(name)) return [];
      const way = name === 'end_call' ? 'whether it hangs up is "endedReason"' : 'correct its name, or take it out';
      return [`${at}: '${name}' is no tool of the agent, so it is never used; it has ${has}: ${way}`];
    }),
  ];
}

/** Uses of tools that scenarios expect. What has no name is the shape's fault. */
function expectedUses(scenarios: readonly unknown[]): { at: string; name: string }[] {
  const usesIn = (holder: unknown, at: string) => {
    const uses = (holder as { tools?: unknown } | null | undefined)?.tools;
    return (Array.isArray(uses) ? (uses as unknown[]) : []).flatMap((use, index) => {
      const name = (use as { name?: unknown } | null)?.name;
      return typeof name === 'string' ? [{ at: `${at}.tools[${index}].name`, name }] : [];
    });
  };
  return scenarios.flatMap((one, index) => {
    const { opening, turns, expect } = (one ?? {}) as { opening?: unknown; turns?: unknown; expect?: unknown };
    const at = `scenarios[${index}]`;
    const ofTurns = (Array.isArray(turns) ? (turns as unknown[]) : []).flatMap((turn, number) =>
      usesIn((turn as { expect?: unknown } | null)?.expect, `${at}.turns[${number}].expect`),
    );
    return [...usesIn(opening, `${at}.opening`), ...ofTurns, ...usesIn(expect, `${at}.expect`)];
  });
}

/**
 * The steps as a graph: does every target exist, is every step reached from the first, and does every step have a way
 * to an end? A step that waits for an answer also leads to `fallback.goto`, after too many misses.
 */
import type { ScriptedAgent, ScriptedStep } from '../../media/contract/agent-definition.ts';
import type { PathPart, Report } from '../errors/agent-faults.ts';

/** True when the caller is to answer. Absent `expect`: a step that only leads on waits for nothing. */
export function waitsForAnswer(step: ScriptedStep): boolean {
  if (step.end !== undefined || step.tool !== undefined) return false;
  if (step.expect !== undefined) return step.expect !== 'none';
  return (step.replies?.length ?? 0) > 0 || step.goto === undefined;
}

export function checkWays(agent: ScriptedAgent, report: Report): void {
  const indexOf = new Map<string, number>();
  agent.steps.forEach((step, index) => {
    const before = indexOf.get(step.id);
    if (before === undefined) indexOf.set(step.id, index);
    else report(['steps', index, 'id'], `'${step.id}' is already the id of steps[${before}]; give it another`);
  });

  const known = [...indexOf.keys()];
  const targets: { from: number | null; to: string; at: PathPart[] }[] = [
    { from: null, to: agent.fallback.goto, at: ['fallback', 'goto'] },
  ];
  agent.steps.forEach((step, index) => {
    if (step.goto !== undefined) targets.push({ from: index, to: step.goto, at: ['steps', index, 'goto'] });
    step.replies?.forEach((reply, number) => {
      if (reply.goto !== undefined) {
        targets.push({ from: index, to: reply.goto, at: ['steps', index, 'replies', number, 'goto'] });
      }
    });
    if (step.tool !== undefined) {
      targets.push({ from: index, to: step.tool.goto, at: ['steps', index, 'tool', 'goto'] });
      if (step.tool.onError === undefined) {
        targets.push({ from: index, to: agent.fallback.goto, at: ['fallback', 'goto'] });
      } else targets.push({ from: index, to: step.tool.onError, at: ['steps', index, 'tool', 'onError'] });
    }
  });
  for (const target of targets) {
    if (!indexOf.has(target.to))
      report(target.at, `there is no step '${target.to}'; the steps are ${known.join(', ')}`);
  }

  const next = agent.steps.map((step, index) => {
    const to = targets.filter((target) => target.from === index).map((target) => indexOf.get(target.to));
    if (waitsForAnswer(step)) to.push(indexOf.get(agent.fallback.goto));
    return to.filter((step) => step !== undefined);
  });
  const reached = spread([0], (index) => next[index] ?? []);
  agent.steps.forEach((step, index) => {
    if (!reached.has(index) && indexOf.get(step.id) === index) {
      report(['steps', index], `no way leads to step '${step.id}'; point a 'goto' at it, or take it out`);
    }
  });

  const endings = agent.steps.flatMap((step, index) => (step.end === undefined ? [] : [index]));
  const before = (index: number): number[] => next.flatMap((to, from) => (to.includes(index) ? [from] : []));
  const ending = spread(endings, before);
  agent.steps.forEach((step, index) => {
    if (!ending.has(index)) {
      report(['steps', index], `step '${step.id}' never leads to a step with 'end'; the call could only time out`);
    }
  });
}

function spread(from: readonly number[], onward: (index: number) => readonly number[]): Set<number> {
  const seen = new Set(from);
  // A set that grows while it is walked is walked to its end.
  for (const index of seen) for (const to of onward(index)) seen.add(to);
  return seen;
}

/** How a fault of an agent's JSON is told: where it is, what is wrong, and the way out. */

export interface AgentFault {
  /** `steps[2].replies[0].goto`; empty for the whole definition. */
  path: string;
  problem: string;
}

export type PathPart = string | number;

/** Adds one fault; `at` is the way to the value. */
export type Report = (at: readonly PathPart[], problem: string) => void;

/** `['steps', 2, 'replies', 0, 'goto']` becomes `steps[2].replies[0].goto`. */
export function pathText(parts: readonly PropertyKey[]): string {
  let text = '';
  for (const part of parts) {
    if (typeof part === 'number') text += `[${part}]`;
    else text += text === '' ? String(part) : `.${String(part)}`;
  }
  return text;
}

/** One line a fault, for people. */
export function faultLines(faults: readonly AgentFault[]): string[] {
  return faults.map((fault) => `${fault.path === '' ? 'the definition' : fault.path}: ${fault.problem}`);
}

/**
 * What a script says in the same words in every call: its sentences without placeholders, as the voice is asked for them. A sentence with
 * a placeholder, a tool's result or an operator's words is never among them, whatever stands beside it.
 */
import type { ScriptedAgent } from '../../contract/agent-definition.ts';
import type { ScriptedLine } from '../../contract/clip.ts';
import { fillPlaceholders } from '../../contract/placeholders.ts';
import { piecesOf } from './sentences.ts';

/** In place of every value. Of a script's own text that holds it nothing is kept either. */
const VALUE = '\u0000';

export function fixedSentences(agent: ScriptedAgent): ReadonlySet<string> {
  const fixed = new Set<string>();
  for (const line of linesOf(agent)) {
    const text = typeof line === 'string' ? line : (line.text ?? '');
    const marked = fillPlaceholders(text, () => VALUE).text.trim();
    for (const piece of piecesOf(marked)) if (!piece.text.includes(VALUE)) fixed.add(piece.text);
  }
  return fixed;
}

function linesOf({ greeting, steps, fallback, idle, tools = [] }: ScriptedAgent): ScriptedLine[] {
  const lines: ScriptedLine[] = [greeting, ...fallback.say, ...idle.say];
  for (const { say = [], tool } of steps) {
    if (Array.isArray(say)) lines.push(...say);
    else lines.push(say);
    if (tool?.saying !== undefined) lines.push(tool.saying);
  }
  for (const { speakDuring = [] } of tools) lines.push(...speakDuring);
  return lines;
}

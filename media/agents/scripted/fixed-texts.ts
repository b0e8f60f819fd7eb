/**
 * What a script says in the same words in every call: each of its lines, with U+0000 in place of what is not the same.
 * The call keeps the speech of its sentences without one; a sentence with a placeholder, a tool's result or an
 * operator's words is never among them.
 */
import type { ScriptedAgent } from '../../contract/agent-definition.ts';
import type { ScriptedLine } from '../../contract/clip.ts';
import { fillPlaceholders } from '../../contract/placeholders.ts';

/** In place of every value. Of a script's own text that holds it nothing is kept either. */
const VALUE = '\u0000';

export function fixedTexts(agent: ScriptedAgent): readonly string[] {
  return linesOf(agent).map((line) => {
    const text = typeof line === 'string' ? line : (line.text ?? '');
    return fillPlaceholders(text, () => VALUE).text.trim();
  });
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

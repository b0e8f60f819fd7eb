/**
 * What a script says: its lines with their placeholders filled and its lists in turn, each of them in one breath or,
 * with clips between, one after the other. It gives `say` actions, and a warning for each placeholder without a value.
 * Used by the script machine.
 */
import type { ScriptedAgent } from '../../contract/agent-definition.ts';
import type { ScriptedLine } from '../../contract/clip.ts';
import { fillPlaceholders } from '../../contract/placeholders.ts';
import type { ScriptPlace } from './script-place.ts';
import type { SayPurpose, ScriptAction } from './script-types.ts';
import { type SaidLine, valueIn } from './step-reading.ts';

export class ScriptLines {
  /** To be said after what is being said, a clip before or after a text. */
  unsaid: SaidLine[] = [];
  #purpose: SayPurpose = 'greeting';
  readonly #place: ScriptPlace;
  /** Of all that is said at once. */
  #interruptible = true;
  #isFixed = false;
  /** A placeholder was filled in what is about to be said. */
  #filledAny = false;

  constructor(place: ScriptPlace) {
    this.#place = place;
  }

  /** Why what was said last was said. */
  get purpose(): SayPurpose {
    return this.#purpose;
  }

  /** The greeting with its placeholders filled, without a call. */
  static greetingOf(agent: ScriptedAgent, placeholders: Readonly<Record<string, string>>): SaidLine {
    return lineOf(agent.greeting, (text) =>
      fillPlaceholders(text, (key) => valueIn(key, placeholders, agent.defaults)).text.trim(),
    );
  }

  /** The first of the lines now, the others as each is said. At least one. */
  say(purpose: SayPurpose, lines: readonly SaidLine[], interruptible: boolean, out: ScriptAction[]): void {
    this.#purpose = purpose;
    this.#interruptible = interruptible;
    this.#isFixed = !this.#filledAny;
    this.#filledAny = false;
    this.sayNext(lines, out);
  }

  sayNext(lines: readonly SaidLine[], out: ScriptAction[]): void {
    this.unsaid = lines.slice(1);
    const [interruptible, isFixed] = [this.#interruptible, this.#isFixed];
    const { stepId } = this.#place;
    out.push({ type: 'say', stepId, purpose: this.#purpose, ...lines[0]!, interruptible, isFixed });
  }

  /** The next of a list, in turn, counted for the whole call. */
  pick<Line extends ScriptedLine>(lines: readonly Line[], counter: string): Line | '' {
    const turn = this.#place.visit(counter);
    return lines.length === 0 ? '' : lines[(turn - 1) % lines.length]!;
  }

  spoken(line: ScriptedLine, out: ScriptAction[]): SaidLine {
    return lineOf(line, (text) => this.fill(text, out));
  }

  fill(text: string, out: ScriptAction[]): string {
    const filled = fillPlaceholders(text, (key) => {
      this.#filledAny = true;
      return this.#place.valueOf(key);
    });
    for (const key of new Set(filled.unresolved)) {
      const count = filled.unresolved.filter((one) => one === key).length;
      const message = `The placeholder '${key}' has no value; nothing is said in its place.`;
      out.push({ type: 'warning', code: 'placeholder_unresolved', message, key, count });
    }
    return filled.text.trim();
  }
}

/** A clip sounds as it does: its text has no placeholders. */
function lineOf(line: ScriptedLine, fill: (text: string) => string): SaidLine {
  return typeof line === 'string' ? { text: fill(line) } : { text: line.text ?? '', clip: line.clip };
}

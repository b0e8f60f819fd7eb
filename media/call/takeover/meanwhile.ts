/**
 * What was said while a person had the call: kept from the call's turns, for the agent that gets it back and for a
 * successor that goes on in the middle of it. Of very much the newest stays.
 */
import type { SaidMeanwhile, Turn } from '../../contract/conversation.ts';

const MOST_LINES = 80;
const LONGEST_TEXT = 500;

export class Meanwhile {
  readonly #lines: SaidMeanwhile[];

  constructor(lines: readonly SaidMeanwhile[] = []) {
    this.#lines = [...lines];
  }

  get lines(): readonly SaidMeanwhile[] {
    return this.#lines;
  }

  turn({ role, text, kind }: Turn): void {
    if (kind === 'backchannel') return;
    this.#lines.push({ who: role === 'user' ? 'caller' : 'person', text: text.slice(0, LONGEST_TEXT) });
    if (this.#lines.length > MOST_LINES) this.#lines.shift();
  }
}

/**
 * The conversation in words, one line a turn: agent words are appended as they are played, everything else replaces its
 * turn. Lines stand in the order in which turns began, which is that of their numbers: the words of a turn may come
 * when a later one has begun.
 */

export interface TranscriptMessage {
  role: 'user' | 'agent';
  turnId: string;
  text?: string;
  delta?: string;
  final: boolean;
  interrupted?: boolean;
}

export interface CaptionLine {
  role: 'user' | 'agent';
  turnId: string;
  text: string;
  final: boolean;
  interrupted: boolean;
}

export interface Captions {
  /** In their order. */
  readonly lines: readonly CaptionLine[];
  /** The line that changed, and of a new one the line that it goes before: null at the end. */
  take(message: TranscriptMessage): { line: CaptionLine; before: CaptionLine | null };
}

/** After a resume on another process, turns come again under new ordinals: they are told apart by their id. */
export function createCaptions(): Captions {
  const lines: CaptionLine[] = [];
  return {
    lines,
    take({ role, turnId, text, delta, final, interrupted }) {
      const known = lines.find((one) => one.role === role && one.turnId === turnId);
      const line = known ?? { role, turnId, text: '', final: false, interrupted: false };
      if (text !== undefined) line.text = text;
      else if (!line.final && delta !== undefined) line.text += delta;
      line.final ||= final;
      line.interrupted = interrupted === true;
      if (known !== undefined) return { line, before: null };
      const at = lines.findIndex((one) => numberOf(one) > numberOf(line));
      const before = lines[at] ?? null;
      lines.splice(before === null ? lines.length : at, 0, line);
      return { line, before };
    },
  };
}

/** `t12` is the twelfth turn that began. */
function numberOf({ turnId }: CaptionLine): number {
  return Number(turnId.slice(1));
}

/** The conversation in words, one line a turn: agent words are appended as they are played, everything else replaces its turn. */

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
  /** The line that changed, and whether it is a new one. */
  take(message: TranscriptMessage): { line: CaptionLine; isNew: boolean };
}

/** After a resume on another process, turns come again under new ordinals: they are told apart by their id. */
export function createCaptions(): Captions {
  const lines = new Map<string, CaptionLine>();
  return {
    take({ role, turnId, text, delta, final, interrupted }) {
      const key = `${role} ${turnId}`;
      const known = lines.get(key);
      const line = known ?? { role, turnId, text: '', final: false, interrupted: false };
      if (text !== undefined) line.text = text;
      else if (!line.final && delta !== undefined) line.text += delta;
      line.final ||= final;
      line.interrupted = interrupted === true;
      lines.set(key, line);
      return { line, isNew: known === undefined };
    },
  };
}

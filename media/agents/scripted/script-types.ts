/**
 * What the script machine is told, and what it answers. Made by `scripted-agent.ts` of the port's events and carried
 * out there.
 */
import type { Expectation } from '../../contract/agent-definition.ts';
import type { EndedReason } from '../../contract/call-outcome.ts';
import type { ToolAnswer } from '../../contract/tools.ts';
import type { PhraseBook } from './phrase-match.ts';

export type SayPurpose = 'greeting' | 'step' | 'fallback' | 'idle' | 'filler';

/** What another thread needs to go on from here. */
export interface ScriptState {
  stepId: string | null;
  variables: Record<string, string>;
  misses: number;
  visits: Record<string, number>;
}

export type ScriptEvent =
  | { type: 'start'; atMs: number; checkpoint: ScriptState | null }
  /** All that was to be said has been played to its end. */
  | { type: 'said'; atMs: number }
  /** The caller cut the agent off: what was not yet played never will be. */
  | { type: 'interrupted'; atMs: number }
  | { type: 'heard'; atMs: number; text: string }
  /** The caller spoke, but nothing that can be understood. */
  | { type: 'unclear'; atMs: number }
  /** The caller asked for a moment: wait, and let the idle prompts run. */
  | { type: 'hold'; atMs: number }
  | { type: 'caller'; atMs: number; speaking: boolean }
  /** The result of the tool that was asked for, told when nothing is being said. */
  | { type: 'tool'; atMs: number; answer: ToolAnswer }
  | { type: 'tick'; atMs: number };

export type ScriptAction =
  | { type: 'step'; stepId: string }
  /** Holds from now on, while the agent speaks too. `asked` is false while the greeting goes before the question. */
  | { type: 'listen'; stepId: string | null; book: PhraseBook; expect: Expectation; asked: boolean }
  /** `clip`: what sounds is a clip that says the text. `isFixed`: no placeholder stood in it. */
  | {
      type: 'say';
      stepId: string | null;
      purpose: SayPurpose;
      text: string;
      clip?: string;
      interruptible: boolean;
      isFixed: boolean;
    }
  /** Before what the step says: the tool works meanwhile. One at a time. */
  | { type: 'tool'; name: string; arguments: Record<string, string> }
  /** `key`: what it is about, met `count` times just now. */
  | { type: 'warning'; code: string; message: string; key?: string; count?: number }
  | { type: 'end'; reason: EndedReason; disposition: string | null; error: string | null };

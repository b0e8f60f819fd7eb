/**
 * The `tone` agent behind the agent port: a steady tone for as long as the call lasts, and nothing is listened to. No
 * engines, no turns: the bench measures sockets, rings and clock with it.
 */
import type { Agent, AgentContext, AgentEvent, AgentKind } from '../../contract/agent.ts';
import { LONGEST_PAUSE_MS } from '../../contract/agent.ts';
import type { ToneAgent } from '../../contract/agent-definition.ts';
import type { SoundLoop } from '../../contract/speech-source.ts';

const LEVEL = 0.25;
const MOST_TONES = 16;
const NO_VARIABLES = Object.freeze({});

/** By pitch and rate; calls of one tone share it, so that it is encoded once. */
const tones = new Map<string, SoundLoop>();

/** One second of tone is a whole number of periods at any whole frequency: it loops without a click. */
export function toneLoop(toneHz: number, rateHz: number): SoundLoop {
  const key = `${Math.round(toneHz)} ${rateHz}`;
  const known = tones.get(key);
  if (known !== undefined) return known;
  const samples = new Int16Array(rateHz);
  for (let i = 0; i < samples.length; i++) {
    samples[i] = Math.round(Math.sin((2 * Math.PI * Math.round(toneHz) * i) / rateHz) * 32767 * LEVEL);
  }
  const loop = { samples, rateHz };
  if (tones.size >= MOST_TONES) tones.clear();
  tones.set(key, loop);
  return loop;
}

export const toneKind: AgentKind<ToneAgent> = {
  kind: 'tone',
  traits: { isSteerable: false },
  stateVersion: 1,
  readsVersions: [1],
  create: (context) => new Tone(context),
  opening: () => null,
  engines: () => ({ ear: null, voice: null, voiceActivity: 'gate' }),
  fixedTexts: () => [],
};

class Tone implements Agent {
  readonly stepId = null;
  readonly patience = { minMs: LONGEST_PAUSE_MS, maxMs: LONGEST_PAUSE_MS };
  readonly #context: AgentContext<ToneAgent>;
  readonly #latestEndMs: number;

  constructor(context: AgentContext<ToneAgent>) {
    this.#context = context;
    this.#latestEndMs = context.maxDurationMs;
  }

  handle(event: AgentEvent): void {
    // At each tick: no more is looked at than must be.
    if (event.type === 'tick' && event.atMs < this.#latestEndMs) return;
    const { definition, legRateHz, sink } = this.#context;
    if (event.type === 'start') {
      const loop = toneLoop(definition.toneHz, legRateHz);
      sink.act({ type: 'say', speech: { loop }, stepId: null, interruptible: false });
    } else if (event.type === 'tick') {
      sink.act({ type: 'end', reason: 'max_duration_reached', disposition: null, error: null });
    }
  }

  hints(): { phrases: readonly string[] } {
    return { phrases: [] };
  }

  sense(): 'nothing' {
    return 'nothing';
  }

  intentOf(): null {
    return null;
  }

  state(): null {
    return null;
  }

  variables(): Readonly<Record<string, string>> {
    return NO_VARIABLES;
  }

  close(): void {}
}

/** What can be asked of a call while it runs (contract §13, `POST …/control`), and what became of it. */

export type ControlAction =
  /** The agent says it, in its own voice: at once, or when what is being said has been said. */
  | { type: 'say'; text: string; interrupt: boolean }
  /** The agent takes it as though the caller had said it. Nothing of it is in the transcript. */
  | { type: 'inject'; text: string }
  /**
   * An instruction to the agent, which holds from its next words on. The caller hears nothing of it, and nothing of it
   * is in the transcript.
   */
  | { type: 'whisper'; text: string }
  /** The agent falls silent and answers nothing; what the caller says is still written down. */
  | { type: 'mute_agent' }
  /** It goes on from the word at which it fell silent. */
  | { type: 'unmute_agent' }
  /** A person speaks in the agent's place, by `person.sound`; the agent is silent. */
  | { type: 'takeover' }
  /** The agent goes on, and knows what was said, and `note`. */
  | { type: 'handback'; note: string | null }
  /** Keys pressed towards the far end. */
  | { type: 'dtmf'; digits: string };

/**
 * `unsupported`: this kind of agent or carrier never can. `not_here`: the call is not, or not any more, with this
 * process or thread. `ending`: the agent has said its last word. `muted`: unmute it first. `queue_full`: five texts
 * wait to be said. `not_followed`: the agent cannot follow that instruction now. `taken`: a person has the
 * call. `not_taken`: none has.
 */
export type ControlRefusal =
  | 'unsupported'
  | 'not_here'
  | 'ending'
  | 'muted'
  | 'queue_full'
  | 'not_followed'
  | 'taken'
  | 'not_taken';

export type ControlOutcome = { done: true } | { done: false; why: ControlRefusal };

export const CONTROL_DONE: ControlOutcome = { done: true };

export function controlRefused(why: ControlRefusal): ControlOutcome {
  return { done: false, why };
}

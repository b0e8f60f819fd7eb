/**
 * Words that mean the same on every step: assent that lets the agent go on, and words that stop it. They are in the
 * grammar while the agent speaks. One list a language; each word must be known to the recogniser.
 */

export interface WordLists {
  /** The caller murmurs assent: the agent goes on. */
  acknowledge: readonly string[];
  /** Also assent while the greeting is still being said: what people say when they pick up a phone. */
  acknowledgeGreeting: readonly string[];
  /** The caller wants the word. */
  interrupt: readonly string[];
  /** The caller wants a moment: stop, and wait in silence. */
  hold: readonly string[];
}

export const ENGLISH: WordLists = {
  acknowledge: ['uh huh', 'mm hm', 'okay', 'right', 'i see', 'yeah', 'sure', 'alright', 'got it'],
  acknowledgeGreeting: ['hello', 'hi', 'hey', 'yes', 'yes hello', 'hello hello', 'speaking'],
  interrupt: ['stop', 'no', 'excuse me', 'actually', 'sorry'],
  hold: ['wait', 'hold on', 'hang on', 'one moment', 'just a moment', 'wait a moment'],
};

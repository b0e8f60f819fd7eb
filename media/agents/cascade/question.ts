/** What a model is asked, and the reply that its answer becomes. Called by `answering.ts`. */
import { assistantEntry, messagesOf } from './history.ts';
import type { Parts } from './parts.ts';
import { Reply } from './reply.ts';
import type { Question } from './thinking.ts';
import { MOST_ROUNDS } from './tool-round.ts';

const MOST_ANSWER_CHARS = 1_200;

/** With all that is known. While tools are at work, and after too many rounds of them, it is answered in words. */
export function questionOf({ tools, history, system, modelTools }: Parts): Question {
  const running = new Set(tools.round.open.map(({ useId }) => useId));
  const isLast = tools.round.isBusy || tools.round.rounds >= MOST_ROUNDS;
  const messages = history.messages(system, running);
  return { messages, tools: modelTools, toolChoice: isLast ? 'none' : 'auto' };
}

/** What it would be, if the caller had said this and no more. */
export function questionAhead({ history, system, modelTools }: Parts, text: string): Question {
  const messages = messagesOf([...history.entries, { type: 'user', text }], system);
  return { messages, tools: modelTools, toolChoice: 'auto' };
}

/** In the history from its first word on. */
export function newReply({ definition, speech }: Parts): Reply {
  const { language, limits } = definition;
  return new Reply({
    entry: assistantEntry(),
    mouth: speech.mouth,
    language,
    mostChars: limits?.answerCharacters ?? MOST_ANSWER_CHARS,
  });
}

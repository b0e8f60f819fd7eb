/** How an agent begins its call, or goes on in the place of one that died. Called once, by `cascade-agent.ts`. */
import { type AgentEvent, BRIDGE } from '../../contract/agent.ts';
import { type Answering, GO_ON } from './answering.ts';
import type { Parts } from './parts.ts';
import { firstMessageOf, unresolvedKeys } from './prompt.ts';
import { type CascadeState, type Cut, nothingKept, repair } from './resumption.ts';

const GREET = 'The call has begun. Greet the caller and open the conversation.';
const BACK = 'The line was interrupted for a moment and is back. Go on where you were.';

export function begin(parts: Parts, answering: Answering, event: Extract<AgentEvent, { type: 'start' }>): void {
  const { definition, sink, quiet, tools, speech, history } = parts;
  const { placeholders } = parts.context;
  quiet.beginsAnew(event.atMs);
  tools.variables = { ...event.variables };
  if (event.isResumed) {
    const state = (event.state as CascadeState | null) ?? nothingKept(definition, placeholders);
    resume(parts, answering, state, event.cut ?? null);
    return;
  }
  for (const [key, count] of unresolvedKeys(definition, placeholders)) {
    const message = `The placeholder '${key}' has no value; nothing stands in its place.`;
    sink.act({ type: 'warning', code: 'placeholder_unresolved', message, key, count });
  }
  const text = firstMessageOf(definition, placeholders);
  if (text !== null) speech.line(text, { isOpening: true });
  else if (definition.speaksFirst !== 'caller') {
    history.note(GREET);
    answering.ask();
  }
}

/** Another died: a short word, what was cut from the beginning of its sentence, and whatever was still owed. */
function resume(parts: Parts, answering: Answering, state: CascadeState, cut: Cut | null): void {
  const { history, tools, spending, speech, farewell, definition, atMs } = parts;
  history.restore(state.entries);
  tools.round.numbered = state.numbered;
  tools.round.rounds = state.rounds;
  spending.tokens = state.tokens;
  spending.costUsd = state.costUsd;
  speech.turns = state.turns;
  const isFiller = cut !== null && isFixedLine(parts, cut.text);
  const { again, isTorn } = repair(history, state, isFiller ? null : cut, definition.language);
  if (state.ending !== null) farewell.begin(state.ending);
  for (const use of state.open) tools.begin(use, atMs);
  const isOwed = again === '' && !tools.round.isBusy && state.ending === null && state.isThinking;
  answering.mustGoOn = isTorn && !isOwed;
  if (again !== '') speech.line(again, { lead: `${BRIDGE} ` });
  else if (isOwed) {
    history.note(isTorn ? GO_ON : BACK);
    answering.ask();
    answering.reply?.lead(`${BRIDGE} `, atMs);
  } else speech.fixed(BRIDGE);
}

/** Words that the history does not know. */
function isFixedLine({ lines }: Parts, text: string): boolean {
  const said = text.trim();
  return [BRIDGE, ...lines.fillers].some((line) => line.startsWith(said));
}

/** A line to type into, for visitors who would rather not talk, or cannot. */
import { element, icon, SEND } from './elements.ts';
import type { Look } from './look.ts';

/** As the service takes at most. */
const MOST_CHARACTERS = '2000';

export function createTyping({ words }: Look, send: (text: string) => void): HTMLFormElement {
  const input = element('input', {
    type: 'text',
    'aria-label': words.type,
    placeholder: words.type,
    maxlength: MOST_CHARACTERS,
    autocomplete: 'off',
    enterkeyhint: 'send',
  });
  const form = element(
    'form',
    { class: 'typing', hidden: true },
    input,
    element('button', { type: 'submit', 'aria-label': words.send }, icon(SEND)),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const text = input.value.trim();
    if (text === '') return;
    send(text);
    input.value = '';
  });
  return form;
}

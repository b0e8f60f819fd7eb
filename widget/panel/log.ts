/** The conversation in words: captions while it runs, a transcript to read and copy afterwards. */
import { type CaptionLine, createCaptions, type TranscriptMessage } from './captions.ts';
import { element } from './elements.ts';
import type { Look } from './look.ts';

export interface Log {
  readonly element: HTMLElement;
  readonly isEmpty: boolean;
  take(message: TranscriptMessage): void;
  /** A call begins: turns of it have the same ids as those of the one before. */
  clear(): void;
  /** `Agent: …` a line. */
  text(): string;
}

export function createLog({ words, transcript }: Look): Log {
  const box = element('div', {
    class: 'captions',
    role: 'log',
    'aria-label': transcript ? words.transcript : words.captions,
    tabindex: '0',
    hidden: true,
  });
  let spoken = createCaptions();
  const shown = new Map<CaptionLine, HTMLElement>();
  const whoOf = ({ role }: CaptionLine): string => (role === 'agent' ? words.agent : words.you);
  return {
    element: box,
    get isEmpty() {
      return spoken.lines.every(({ text }) => text === '');
    },
    take(message) {
      const { line, before } = spoken.take(message);
      const row = shown.get(line) ?? element('p');
      row.replaceChildren(element('b', {}, `${whoOf(line)} `), line.text);
      if (!shown.has(line)) box.insertBefore(row, before && shown.get(before)!);
      shown.set(line, row);
      row.hidden = line.text === '';
      box.scrollTop = box.scrollHeight;
    },
    clear() {
      spoken = createCaptions();
      shown.clear();
      box.replaceChildren();
    },
    text: () =>
      spoken.lines
        .filter(({ text }) => text !== '')
        .map((line) => `${whoOf(line)}: ${line.text}`)
        .join('\n'),
  };
}

/** The conversation in words: the agent's as they are heard, the visitor's as they are understood. */
import { type CaptionLine, createCaptions, type TranscriptMessage } from '../../panel/captions.ts';
import { element } from '../../panel/elements.ts';

export interface Transcript {
  element: HTMLElement;
  take(message: TranscriptMessage): void;
  /** For the next call, whose turns have the same ids. */
  clear(): void;
  /** Beside the agent's words of that turn. */
  time(turnId: string, words: string): void;
}

export function createTranscript(): Transcript {
  const log = element('div', { class: 'log', role: 'log', 'aria-label': 'Transcript', tabindex: '0' });
  const holder = element(
    'section',
    { class: 'card words', 'aria-labelledby': 'words-title' },
    element('h2', { id: 'words-title' }, 'Transcript'),
    log,
  );
  let captions = createCaptions();
  const rows = new Map<CaptionLine, { row: HTMLElement; words: HTMLElement; time: HTMLElement }>();

  function rowOf(line: CaptionLine, before: CaptionLine | null) {
    const known = rows.get(line);
    if (known !== undefined) return known;
    const words = element('p');
    const time = element('span', { class: 'chip' });
    const row = element(
      'div',
      { class: `line ${line.role}` },
      element('b', {}, line.role === 'agent' ? 'Agent' : 'You'),
      words,
      time,
    );
    const made = { row, words, time };
    rows.set(line, made);
    log.insertBefore(row, before && rows.get(before)!.row);
    return made;
  }

  return {
    element: holder,
    take(message) {
      const { line, before } = captions.take(message);
      const isNearEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 80;
      const { row, words } = rowOf(line, before);
      words.textContent = line.text;
      if (line.interrupted) words.append(element('span', { class: 'cut' }, ' — interrupted'));
      row.classList.toggle('open', !line.final && line.role === 'user');
      // What was only a noise leaves no line.
      row.hidden = line.text.trim() === '';
      if (isNearEnd) log.scrollTop = log.scrollHeight;
    },
    clear() {
      captions = createCaptions();
      rows.clear();
      log.replaceChildren();
    },
    time(turnId, words) {
      const line = captions.lines.find((one) => one.role === 'agent' && one.turnId === turnId);
      if (line !== undefined) rows.get(line)!.time.textContent = words;
    },
  };
}

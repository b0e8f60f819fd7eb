/**
 * What each answer's time is made of, drawn as it happens. Every figure of a `latency` message counts from the
 * visitor's last sound (docs/live-protocol.md), so a part is the difference to the one before it.
 */
import { element } from '../../panel/elements.ts';
import { type LatencyMessage, partsOf } from './reply-parts.ts';

const PARTS = ['end of your turn', 'words', 'answer', 'voice', 'way to your ear'];
const SHOWN_ROWS = 5;
const SCALE_MS = 1_200;

export interface ReplyTimes {
  element: HTMLElement;
  take(message: LatencyMessage): void;
  /** Another call. */
  clear(): void;
}

export function createReplyTimes(): ReplyTimes {
  const rows = element('div', { class: 'rows', role: 'log', 'aria-label': 'Reply times', tabindex: '0' });
  const median = element('p', { class: 'chip' });
  const legend = element(
    'div',
    { class: 'legend', 'aria-hidden': 'true' },
    ...PARTS.map((name, index) => element('span', {}, element('i', { class: `s${index + 1}` }), name)),
  );
  const holder = element(
    'section',
    { class: 'card times', 'aria-labelledby': 'times-title' },
    element('div', { class: 'heads' }, element('h2', { id: 'times-title' }, 'Reply time'), median),
    rows,
    legend,
  );
  const totals: number[] = [];
  return {
    element: holder,
    take(message) {
      const parts = partsOf(message);
      const total = Math.round(parts.reduce((sum, one) => sum + one, 0));
      totals.push(total);
      const longest = Math.max(SCALE_MS, ...totals.slice(-SHOWN_ROWS));
      const segments = parts.map((_length, index) => element('i', { class: `s${index + 1}` }));
      const spoken = parts.map((length, index) => `${PARTS[index]} ${Math.round(length)} ms`).join(', ');
      rows.append(
        element(
          'div',
          { class: 'row', title: spoken },
          element('div', { class: 'bar', role: 'img', 'aria-label': spoken }, ...segments),
          element('span', {}, `${total} ms`),
        ),
      );
      while (rows.children.length > SHOWN_ROWS) rows.firstElementChild!.remove();
      requestAnimationFrame(() => {
        for (const [index, segment] of segments.entries()) {
          segment.style.width = `${((100 * parts[index]!) / longest).toFixed(2)}%`;
        }
      });
      const sorted = [...totals].sort((a, b) => a - b);
      median.textContent = `median ${sorted[sorted.length >> 1]} ms`;
    },
    clear() {
      totals.length = 0;
      rows.replaceChildren();
      median.textContent = '';
    },
  };
}

/** What is different between two texts, line by line, with a little of what is the same around it. */
import { agents as words } from '../texts/en/agents.ts';

type Kind = 'same' | 'added' | 'gone' | 'skipped';
interface Line {
  kind: Kind;
  text: string;
}

const AROUND = 3;
/** Beyond it the middle is shown as all gone and all new: comparing would hold up the page. */
const MOST_CELLS = 4_000_000;

export function linesOf(before: string, after: string): Line[] {
  const [a, b] = [before.split('\n'), after.split('\n')];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const [left, right] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  const same = (lines: string[]): Line[] => lines.map((text) => ({ kind: 'same', text }));
  return [...same(a.slice(0, start)), ...middle(left, right), ...same(a.slice(a.length - end))];
}

/** The longest common run of lines, by the table of its lengths. */
function middle(a: string[], b: string[]): Line[] {
  const gone = (text: string): Line => ({ kind: 'gone', text });
  const added = (text: string): Line => ({ kind: 'added', text });
  if (a.length * b.length > MOST_CELLS) return [...a.map(gone), ...b.map(added)];
  const width = b.length + 1;
  const lengths = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      lengths[i * width + j] =
        a[i] === b[j]
          ? lengths[(i + 1) * width + j + 1]! + 1
          : Math.max(lengths[(i + 1) * width + j]!, lengths[i * width + j + 1]!);
    }
  }
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      lines.push({ kind: 'same', text: a[i]! });
      i++;
      j++;
    } else if (lengths[(i + 1) * width + j]! >= lengths[i * width + j + 1]!) lines.push(gone(a[i++]!));
    else lines.push(added(b[j++]!));
  }
  return [...lines, ...a.slice(i).map(gone), ...b.slice(j).map(added)];
}

/** Long stretches of the same become one line. */
function folded(lines: Line[]): Line[] {
  const near = lines.map((_, at) =>
    lines.slice(Math.max(0, at - AROUND), at + AROUND + 1).some(({ kind }) => kind !== 'same'),
  );
  const shown: Line[] = [];
  for (const [at, line] of lines.entries()) {
    if (near[at] === true) shown.push(line);
    else if (shown.at(-1)?.kind !== 'skipped') shown.push({ kind: 'skipped', text: '⋯' });
  }
  return shown;
}

const SIGNS: Record<Kind, string> = { same: '', added: '+', gone: '−', skipped: '' };

export function Difference({ before, after, label }: { before: string; after: string; label: string }) {
  const lines = folded(linesOf(before, after));
  if (lines.every(({ kind }) => kind === 'skipped')) return <p class="soft">{words.same}</p>;
  return (
    <div class="difference" role="group" aria-label={label}>
      {lines.map(({ kind, text }, at) => (
        <div key={at} class={kind}>
          <span>{SIGNS[kind]}</span>
          <span>{text === '' ? ' ' : text}</span>
        </div>
      ))}
    </div>
  );
}

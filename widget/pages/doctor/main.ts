/** `/embed/doctor`: finds what keeps this visitor, on this machine, from talking, and says what to do about it. */
import { element, icon, VOICE } from '../../panel/elements.ts';
import { CHECKS } from './checks.ts';
import type { Finding } from './finding.ts';
import { closeProbe, openProbe } from './probe.ts';

const MARKS = {
  todo: 'M12 12h0',
  busy: 'M12 4a8 8 0 0 1 8 8',
  ok: 'M5 12.500l4.500 4.500L19 7.500',
  warn: 'M12 4 21 20H3ZM12 10v4M12 17h0',
  fail: 'M6 6l12 12M18 6 6 18',
};
const WORDS = { ok: 'fine', warn: 'to look at', fail: 'not working', busy: 'being checked', todo: 'not checked yet' };

interface Row {
  element: HTMLElement;
  look(state: keyof typeof MARKS, finding?: Finding): void;
}

function createRow(name: string): Row {
  const mark = element('span', { class: 'mark', role: 'img' });
  const found = element('div', { class: 'found' });
  const way = element('div', { class: 'way', hidden: true });
  const row = element('li', {}, mark, element('div', {}, element('div', { class: 'name' }, name), found), way);
  return {
    element: row,
    look(state, finding) {
      row.className = state;
      mark.replaceChildren(icon(MARKS[state]));
      mark.setAttribute('aria-label', WORDS[state]);
      found.textContent = finding?.found ?? '';
      way.textContent = finding?.way ?? '';
      way.hidden = finding?.way === undefined;
    },
  };
}

function build(main: HTMLElement): void {
  const rows = CHECKS.map(({ name }) => createRow(name));
  const lead = element(
    'p',
    { class: 'lead', role: 'status' },
    'Finds what keeps you from talking to an agent. Press the button, allow the microphone, and say a sentence.',
  );
  const run = element('button', { type: 'button', class: 'main' }, icon(VOICE), 'Check this device');
  const copy = element('button', { type: 'button', hidden: true }, 'Copy the result');
  let report = '';

  async function check(): Promise<void> {
    const probe = openProbe(main.dataset['worklets'] ?? '');
    run.disabled = true;
    copy.hidden = true;
    lead.textContent = 'Checking. Say a sentence, please.';
    const lines: string[] = [];
    const counts = { ok: 0, warn: 0, fail: 0 };
    for (const row of rows) row.look('todo');
    for (const [index, { name, run: find }] of CHECKS.entries()) {
      rows[index]!.look('busy');
      const finding = await find(probe).catch((error: unknown): Finding => ({ level: 'fail', found: String(error) }));
      rows[index]!.look(finding.level, finding);
      counts[finding.level]++;
      lines.push(`${WORDS[finding.level].padEnd(12)} ${name}: ${finding.found}`);
    }
    await closeProbe(probe);
    report = `${lines.join('\n')}\n${navigator.userAgent}`;
    lead.textContent =
      counts.fail > 0
        ? `${counts.fail} of ${CHECKS.length} do not work: the lines in red say what to do.`
        : counts.warn > 0
          ? 'You can talk; one or more lines could be better.'
          : 'Everything is fine: you can talk.';
    run.disabled = false;
    run.lastChild!.textContent = 'Check again';
    copy.hidden = false;
  }

  run.addEventListener('click', () => void check());
  copy.addEventListener('click', () => {
    navigator.clipboard.writeText(report).then(
      () => {
        copy.textContent = 'Copied';
      },
      () => {},
    );
  });
  for (const row of rows) row.look('todo');
  main.append(
    element('h1', {}, 'Voice check'),
    lead,
    element('div', { class: 'controls' }, run, copy),
    element('ul', { class: 'card checks' }, ...rows.map((row) => row.element)),
  );
  main.removeAttribute('aria-busy');
}

build(document.getElementById('doctor')!);

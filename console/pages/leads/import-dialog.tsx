/**
 * A file of leads: what its columns mean is guessed, shown with its first rows, and can be changed before it is
 * sent.
 */
import { useState } from 'preact/hooks';
import { clientOf } from '../../api/request.ts';
import { leads as words } from '../../texts/en/leads.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { FileInput, Text } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Notice } from '../../ui/notice.tsx';
import { type CsvHead, countTwice, headOf, looksLikeNumber, renamed } from './csv-file.ts';

const MOST_BYTES = 10_000_000;
const SAMPLES = 3;
const FIELDS = ['phone', 'name', 'externalId', 'agentId', 'source', 'notes', 'timezone'] as const;
/** Names under which people have them, in any spelling. */
const KNOWN: Readonly<Record<string, (typeof FIELDS)[number]>> = {
  phone: 'phone',
  phonenumber: 'phone',
  mobile: 'phone',
  number: 'phone',
  contactnumber: 'phone',
  telephone: 'phone',
  to: 'phone',
  name: 'name',
  customername: 'name',
  fullname: 'name',
  contact: 'name',
  externalid: 'externalId',
  id: 'externalId',
  agentid: 'agentId',
  source: 'source',
  notes: 'notes',
  note: 'notes',
  timezone: 'timezone',
};

const guess = (column: string): string => KNOWN[column.toLowerCase().replace(/[^a-z]/g, '')] ?? 'metadata';

interface Picked {
  text: string;
  head: CsvHead | null;
  isJson: boolean;
  rowCount: number;
}

export function ImportDialog({
  enterprise,
  onClose,
  onStarted,
}: {
  enterprise: string;
  onClose(): void;
  /** `body`: the file as it was sent. */
  onStarted(importId: string, body: string): void;
}) {
  const [picked, setPicked] = useState<Picked | null>(null);
  const [means, setMeans] = useState<string[]>([]);
  const [source, setSource] = useState('');
  const [problem, setProblem] = useState<string | null>(null);

  async function pick(file: File | null): Promise<void> {
    setPicked(null);
    setProblem(null);
    if (file === null) return;
    if (file.size > MOST_BYTES) return setProblem(words.importTooLarge);
    const text = (await file.text()).replace(/^\uFEFF/, '');
    const isJson = text.trimStart().startsWith('{');
    const head = isJson ? null : headOf(text);
    setMeans(head?.columns.map(guess) ?? []);
    setPicked({
      text,
      head,
      isJson,
      rowCount: head?.rows.length ?? text.split('\n').filter((line) => line.trim() !== '').length,
    });
  }
  async function start(): Promise<void> {
    if (picked === null) return;
    const { text, head, isJson } = picked;
    const nameOf = (column: string, at: number): string => {
      const meaning = means[at];
      if (meaning === 'ignore') return `ignored_${at}`;
      return meaning === 'metadata' ? `metadata.${column.replace(/[^\w.-]/g, '_')}` : meaning!;
    };
    const body = head === null ? text : renamed(text, head, head.columns.map(nameOf));
    const { data } = await clientOf(enterprise).importLeads(
      { body, ...(source.trim() === '' ? {} : { source: source.trim() }) },
      { headers: { 'content-type': isJson ? 'application/x-ndjson' : 'text/csv' } },
    );
    onStarted(data.import.id, body);
    onClose();
  }
  const hasPhone = picked === null || picked.isJson || means.includes('phone');
  const phoneAt = means.indexOf('phone');
  const notNumbers =
    picked?.head?.rows.filter((row) => phoneAt >= 0 && !looksLikeNumber(row[phoneAt] ?? '')).length ?? 0;
  const twice = phoneAt < 0 ? 0 : countTwice(picked?.head?.rows.map((row) => row[phoneAt] ?? '') ?? []);
  return (
    <Dialog title={words.import} isWide onClose={onClose}>
      <Form
        submit={start}
        action={picked === null ? words.importBegin : words.importStart(picked.rowCount)}
        isDisabled={picked === null || !hasPhone}
        onCancel={onClose}
      >
        {() => (
          <>
            <p class="soft">{words.importAbout}</p>
            <FileInput
              label={words.importFile}
              accept=".csv,.txt,.ndjson,.jsonl,text/csv"
              fault={problem ?? undefined}
              onInput={(file) => void pick(file)}
            />
            {picked?.head == null ? null : (
              <Mapping head={picked.head} means={means} onInput={(at, meaning) => setMeans(means.with(at, meaning))} />
            )}
            {notNumbers === 0 ? null : <Notice kind="warn">{words.importNotNumbers(notNumbers)}</Notice>}
            {twice === 0 ? null : <Notice kind="warn">{words.importTwice(twice, means.includes('externalId'))}</Notice>}
            {hasPhone ? null : <Notice kind="warn">{words.importNoPhone}</Notice>}
            <Text label={words.source} help={words.sourceHelp} value={source} onInput={setSource} />
          </>
        )}
      </Form>
    </Dialog>
  );
}

function Mapping({
  head,
  means,
  onInput,
}: {
  head: CsvHead;
  means: readonly string[];
  onInput(at: number, meaning: string): void;
}) {
  const options = [...FIELDS, 'metadata', 'ignore'] as const;
  const label = (one: (typeof options)[number]): string =>
    ({
      phone: words.number,
      name: words.name,
      externalId: words.externalId,
      agentId: words.agent,
      source: words.source,
      notes: words.notes,
      timezone: words.timezone,
      metadata: words.importMetadata,
      ignore: words.importIgnore,
    })[one];
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: many columns scroll sideways by keyboard
    <div class="mapping" role="group" aria-label={words.importMap} tabIndex={0}>
      <table aria-label={words.importMap}>
        <thead>
          <tr>
            {head.columns.map((column, at) => (
              <th key={at} scope="col">
                <bdi>{column}</bdi>
                <select
                  aria-label={`${words.importAs} ${column}`}
                  value={means[at]}
                  onChange={(event) => onInput(at, event.currentTarget.value)}
                >
                  {options.map((one) => (
                    <option key={one} value={one} selected={one === means[at]}>
                      {label(one)}
                    </option>
                  ))}
                </select>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {head.rows.slice(0, SAMPLES).map((row, at) => (
            <tr key={at}>
              {head.columns.map((column, index) => (
                <Sample key={column} text={row[index] ?? ''} isPhone={means[index] === 'phone'} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Sample({ text, isPhone }: { text: string; isPhone: boolean }) {
  const isFaulty = isPhone && !looksLikeNumber(text);
  return (
    <td class={isFaulty ? 'fault' : undefined} title={isFaulty ? words.importNotNumber : undefined}>
      <bdi>{text}</bdi>
    </td>
  );
}

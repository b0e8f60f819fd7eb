/** The most used fields of a definition. What a kind of agent does not have is not shown; what is emptied goes away. */
import { agents as words } from '../../texts/en/agents.ts';
import { Area, Select, Text } from '../../ui/field.tsx';
import type { Fault } from './known-agent.ts';

type Definition = Record<string, unknown>;
type Field = keyof typeof words.fields;

const FIELDS: Readonly<Record<string, readonly Field[]>> = {
  scripted: ['name', 'direction', 'language', 'voice', 'greeting', 'script', 'maxDurationSeconds'],
  cascade: ['name', 'direction', 'language', 'firstMessage', 'script', 'maxDurationSeconds'],
};
const LONG: ReadonlySet<Field> = new Set(['script', 'greeting', 'firstMessage']);
const LINES: Partial<Record<Field, number>> = { script: 12, greeting: 3, firstMessage: 3 };

export function DefinitionForm(props: {
  definition: Definition;
  faults: readonly Fault[];
  isReadOnly: boolean;
  onChange(definition: Definition): void;
}) {
  const { definition, faults, isReadOnly, onChange } = props;
  const fields = FIELDS[String(definition['kind'])] ?? ['name', 'direction'];
  function set(field: Field, value: string): void {
    const next = { ...definition };
    if (value === '' && field !== 'name') delete next[field];
    else next[field] = field === 'maxDurationSeconds' ? Number(value) : value;
    onChange(next);
  }
  return (
    <>
      <p class="soft">{words.form}</p>
      {fields.map((field) => {
        const value = definition[field];
        // A clip, a list: written in the JSON.
        if (value !== undefined && typeof value !== 'string' && typeof value !== 'number') return null;
        const shared = {
          label: words.fields[field],
          value: value === undefined ? '' : String(value),
          fault: faults.find(({ path }) => path === field)?.problem,
          isDisabled: isReadOnly,
          ...(words.fieldHelp[field] === undefined ? {} : { help: words.fieldHelp[field] }),
          onInput: (text: string) => set(field, text),
        };
        if (field === 'direction') {
          const options = Object.entries(words.directions).map(([one, label]) => ({ value: one, label }));
          return <Select key={field} {...shared} options={options} />;
        }
        if (LONG.has(field)) return <Area key={field} {...shared} rows={LINES[field] ?? 4} />;
        return <Text key={field} {...shared} type={field === 'maxDurationSeconds' ? 'number' : 'text'} />;
      })}
    </>
  );
}

/** One filter: what to look at, and what it should be. */
import { useState } from 'preact/hooks';
import type { Agent } from '../../../clients/typescript/src/client.ts';
import { filterWords, calls as words } from '../../texts/en/calls.ts';
import { common } from '../../texts/en/common.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Choices, Select, Text } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { FILTERS, filterOf } from './filters.ts';

export interface FilterDialogProps {
  agents: readonly Agent[];
  /** Empty: a new one. */
  name: string;
  value: string;
  onApply(name: string, value: string): void;
  onClose(): void;
}

/** What `datetime-local` takes: the reader's time without a zone. */
function localOf(value: string): string {
  const at = new Date(value);
  if (Number.isNaN(at.getTime())) return '';
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

export function FilterDialog({ agents, name: known, value: given, onApply, onClose }: FilterDialogProps) {
  const [name, setName] = useState(filterOf(known)?.name ?? 'status');
  const [key, setKey] = useState(known.startsWith('metadata.') ? known.slice('metadata.'.length) : '');
  const [value, setValue] = useState(filterOf(known)?.kind === 'time' ? localOf(given) : given);
  const filter = filterOf(name)!;
  const chosen = value === '' ? [] : value.split(',');
  const options =
    name === 'agentId'
      ? agents.map((agent) => ({ value: agent.id, label: agent.name }))
      : Object.entries(filter.options ?? {}).map(([one, label]) => ({ value: one, label }));

  async function apply(): Promise<void> {
    const final =
      filter.kind === 'time' ? new Date(value).toISOString() : filter.kind === 'yesNo' ? value || 'true' : value;
    onApply(filter.kind === 'metadata' ? `metadata.${key}` : name, final);
  }
  return (
    <Dialog title={words.filterTitle} onClose={onClose}>
      <Form
        submit={apply}
        action={words.apply}
        isDisabled={filter.kind !== 'yesNo' && (value === '' || (filter.kind === 'metadata' && key === ''))}
        onCancel={onClose}
      >
        {() => (
          <>
            <Select
              label={words.field}
              value={name}
              options={FILTERS.map((one) => ({ value: one.name, label: filterWords[one.name] ?? one.name }))}
              onInput={(next) => {
                setName(next);
                setValue('');
              }}
            />
            {filter.kind === 'choices' ? (
              <div class="scroll-box">
                <Choices
                  legend={filterWords[name] ?? name}
                  options={options}
                  chosen={chosen}
                  onInput={(next) => setValue(next.join(','))}
                />
              </div>
            ) : filter.kind === 'yesNo' ? (
              <Select
                label={words.value}
                value={value || 'true'}
                options={[
                  { value: 'true', label: common.yes },
                  { value: 'false', label: common.no },
                ]}
                onInput={setValue}
              />
            ) : (
              <>
                {filter.kind === 'metadata' ? (
                  <Text label={words.keyOfMetadata} isMono isRequired value={key} onInput={setKey} />
                ) : null}
                <Text
                  label={words.value}
                  type={filter.kind === 'time' ? 'datetime-local' : filter.kind === 'number' ? 'number' : 'text'}
                  {...(filter.kind === 'number' ? { min: 0, step: 'any' as const } : {})}
                  isRequired
                  value={value}
                  onInput={setValue}
                />
              </>
            )}
          </>
        )}
      </Form>
    </Dialog>
  );
}

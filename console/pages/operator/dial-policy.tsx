/** Where a workspace may call, which kinds of numbers, how long, and how much a day. */
import { useState } from 'preact/hooks';
import type { DialPolicy } from '../../../clients/typescript/src/client.ts';
import { clientOf } from '../../api/request.ts';
import { common } from '../../texts/en/common.ts';
import { dialWords as words } from '../../texts/en/operator.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Check, Choices, Text } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { listOf } from '../../ui/list-of.ts';
import { useLoad } from '../../ui/load.ts';
import { Shown } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';

const client = clientOf('-');
const CEILINGS = ['maxCallSeconds', 'callsPerDay', 'minutesPerDay', 'keyCallsPerDay', 'keyMinutesPerDay'] as const;
type Ceiling = (typeof CEILINGS)[number];

export function DialPolicyDialog({ slug, onClose }: { slug: string; onClose(): void }) {
  const policy = useLoad(async (signal) => (await client.readWorkspaceDialPolicy({ slug }, { signal })).data, [slug]);
  return (
    <Dialog title={`${words.title}: ${slug}`} isWide onClose={onClose}>
      <Shown of={policy}>{(known) => <PolicyForm slug={slug} known={known} onClose={onClose} />}</Shown>
    </Dialog>
  );
}

function PolicyForm({ slug, known, onClose }: { slug: string; known: DialPolicy; onClose(): void }) {
  const [isAnywhere, setAnywhere] = useState(known.countries === null);
  const [countries, setCountries] = useState((known.countries ?? []).join(', '));
  const [blocked, setBlocked] = useState(known.blockedCountries.join(', '));
  const [kinds, setKinds] = useState<string[]>(known.kinds);
  const [ceilings, setCeilings] = useState(
    () => Object.fromEntries(CEILINGS.map((name) => [name, known[name]?.toString() ?? ''])) as Record<Ceiling, string>,
  );
  async function save(): Promise<void> {
    const numbers = CEILINGS.map((name) => [name, ceilings[name].trim() === '' ? null : Number(ceilings[name])]);
    await client.changeWorkspaceDialPolicy({
      slug,
      body: {
        countries: isAnywhere ? null : listOf(countries),
        blockedCountries: listOf(blocked),
        kinds: kinds as DialPolicy['kinds'],
        ...Object.fromEntries(numbers),
      },
    });
    toast(words.stored);
    onClose();
  }
  return (
    <Form
      submit={save}
      action={common.save}
      fields={['countries', 'blockedCountries', 'kinds', ...CEILINGS]}
      onCancel={onClose}
    >
      {(faults) => (
        <>
          <p class="soft">{words.about(known.ownCountries.join(', ') || common.none)}</p>
          <Check label={words.anywhere} isOn={isAnywhere} onInput={setAnywhere} />
          <div class="columns">
            <Text
              label={words.countries}
              help={words.countriesHelp}
              isDisabled={isAnywhere}
              value={isAnywhere ? '' : countries}
              fault={faults['countries']}
              onInput={setCountries}
            />
            <Text
              label={words.blocked}
              help={words.blockedHelp}
              value={blocked}
              fault={faults['blockedCountries']}
              onInput={setBlocked}
            />
          </div>
          <Choices
            legend={words.kinds}
            options={Object.entries(words.kindNames).map(([value, label]) => ({ value, label }))}
            chosen={kinds}
            fault={faults['kinds']}
            onInput={setKinds}
          />
          <div class="columns">
            {CEILINGS.map((name) => (
              <Text
                key={name}
                label={words.ceilings[name]}
                help={words.ceilingHelp}
                type="number"
                min={0}
                value={ceilings[name]}
                fault={faults[name]}
                onInput={(value) => setCeilings({ ...ceilings, [name]: value })}
              />
            ))}
          </div>
          {known.today === null ? null : (
            <p class="soft tiny">{words.today(known.today.calls, Math.round(known.today.usedSeconds / 60))}</p>
          )}
        </>
      )}
    </Form>
  );
}

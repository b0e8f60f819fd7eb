/** How much of everything at once, within what the operator allows, and how much is in use now. */
import { useState } from 'preact/hooks';
import type { LimitSettings } from '../../../clients/typescript/src/client.ts';
import { clientOf } from '../../api/request.ts';
import { may } from '../../api/session.ts';
import { common } from '../../texts/en/common.ts';
import { limitsWords as words } from '../../texts/en/settings.ts';
import { Text } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { useEvery, useLoad } from '../../ui/load.ts';
import { Section } from '../../ui/page.tsx';
import { Shown } from '../../ui/states.tsx';
import { useSetting } from '../../ui/tagged.tsx';
import { toast } from '../../ui/toast.tsx';

const REFRESH_MS = 3_000;

export function Limits({ enterprise }: { enterprise: string }) {
  const client = clientOf(enterprise);
  const now = useLoad(async (signal) => (await client.readLimits({}, { signal })).data, [enterprise]);
  useEvery(REFRESH_MS, now.reload);
  const setting = useSetting<LimitSettings>((signal) => client.readLimitSettings({}, { signal }), [enterprise]);
  return (
    <>
      <Section title={words.now}>
        <Shown of={now} lines={2}>
          {({ calls, webSessions, lines }) => (
            <div class="stack">
              <Use label={words.inUse} inUse={calls.inUse} limit={calls.limit} />
              <Use label={words.web} inUse={webSessions.inUse} limit={webSessions.limit} />
              {lines.map(({ id, number, inUse, limit }) => (
                <Use key={id} label={`${words.line} ${number}`} inUse={inUse} limit={limit} />
              ))}
            </div>
          )}
        </Shown>
      </Section>
      <Section title={words.title} about={words.about}>
        <Shown of={setting}>
          {({ data }) => (
            <LimitForm
              key={JSON.stringify(data)}
              known={data}
              save={(body) => setting.save((headers) => client.changeLimitSettings({ body }, { headers }), body)}
            />
          )}
        </Shown>
        {setting.conflict}
      </Section>
    </>
  );
}

function Use({ label, inUse, limit }: { label: string; inUse: number; limit: number }) {
  return (
    <div>
      <div class="line apart">
        <span>{label}</span>
        <span class="number">
          {inUse} <span class="soft">/ {limit}</span>
        </span>
      </div>
      <meter
        min={0}
        max={Math.max(1, limit)}
        low={limit * 0.8}
        high={limit * 0.95}
        optimum={0}
        value={inUse}
        aria-label={label}
      />
    </div>
  );
}

type Name = keyof typeof words.fields;
const NAMES = Object.keys(words.fields) as Name[];

function LimitForm({ known, save }: { known: LimitSettings; save(body: LimitSettings['limits']): Promise<void> }) {
  const [values, setValues] = useState<Record<Name, string>>(
    () => Object.fromEntries(NAMES.map((name) => [name, String(known.limits[name])])) as Record<Name, string>,
  );
  const caps = known.caps as Partial<Record<Name, number>>;
  return (
    <Form
      submit={async () => {
        await save(
          Object.fromEntries(NAMES.map((name) => [name, Number(values[name])])) as unknown as LimitSettings['limits'],
        );
        toast(words.stored);
      }}
      action={common.save}
      isDisabled={!may('settings:write')}
      fields={NAMES}
    >
      {(faults) => (
        <div class="columns">
          {NAMES.map((name) => (
            <Text
              key={name}
              label={words.fields[name]}
              type="number"
              min={0}
              step="any"
              {...(caps[name] === undefined ? {} : { help: words.cap(caps[name]) })}
              value={values[name]}
              fault={faults[name]}
              onInput={(value) => setValues({ ...values, [name]: value })}
            />
          ))}
        </div>
      )}
    </Form>
  );
}

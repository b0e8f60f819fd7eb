/** When and whom calls of leads may reach, and what the operator allows at all. */
import { useState } from 'preact/hooks';
import type { Agent, CallingSettings, DialPolicy, PhoneNumber } from '../../../clients/typescript/src/client.ts';
import { clientOf } from '../../api/request.ts';
import { may } from '../../api/session.ts';
import { common } from '../../texts/en/common.ts';
import { callingWords as words } from '../../texts/en/settings.ts';
import { Check, Choices, Select, Text } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { listOf } from '../../ui/list-of.ts';
import { useLoad } from '../../ui/load.ts';
import { Facts, Section } from '../../ui/page.tsx';
import { Shown } from '../../ui/states.tsx';
import { useSetting } from '../../ui/tagged.tsx';
import { clockWords } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';

const DAY = { start: '09:00', end: '20:00', days: [1, 2, 3, 4, 5], timezone: 'recipient' };

export function Calling({ enterprise }: { enterprise: string }) {
  const client = clientOf(enterprise);
  const setting = useSetting<CallingSettings>((signal) => client.readCallingSettings({}, { signal }), [enterprise]);
  const named = useLoad(
    async (signal) => {
      const [agents, lines] = await Promise.all([
        client.listAgents({}, { signal }),
        client.listPhoneNumbers({}, { signal }),
      ]);
      return { agents: agents.data.data, lines: lines.data.data };
    },
    [enterprise],
  );
  const policy = useLoad(async (signal) => (await client.readDialPolicy({}, { signal })).data, [enterprise]);
  return (
    <>
      <Section title={words.title} about={words.about}>
        <Shown of={setting}>
          {({ data }) => (
            <CallingForm
              key={JSON.stringify(data)}
              known={data}
              agents={named.data?.agents ?? []}
              lines={named.data?.lines ?? []}
              save={(body) => setting.save((headers) => client.changeCallingSettings({ body }, { headers }), body)}
            />
          )}
        </Shown>
        {setting.conflict}
      </Section>
      <Section title={words.policy} about={words.policyAbout}>
        <Shown of={policy}>{(data) => <Policy policy={data} />}</Shown>
      </Section>
    </>
  );
}

function CallingForm(props: {
  known: CallingSettings;
  agents: readonly Agent[];
  lines: readonly PhoneNumber[];
  save(body: CallingSettings): Promise<void>;
}) {
  const { known, agents, lines, save } = props;
  const [hasWindow, setHasWindow] = useState(known.window !== null);
  const [window, setWindow] = useState(known.window ?? DAY);
  const [allowed, setAllowed] = useState(known.allowedCountries?.join(', ') ?? '');
  const [blocked, setBlocked] = useState(known.blockedCountries.join(', '));
  const [guardCalls, setGuardCalls] = useState(known.guardCalls);
  const [guardLeads, setGuardLeads] = useState(known.guardLeads);
  const [agentId, setAgentId] = useState(known.defaultAgentId ?? '');
  const [lineId, setLineId] = useState(known.defaultLineId ?? '');
  async function submit(): Promise<void> {
    await save({
      window: hasWindow ? window : null,
      allowedCountries: allowed.trim() === '' ? null : listOf(allowed),
      blockedCountries: listOf(blocked),
      guardCalls,
      guardLeads,
      defaultAgentId: agentId === '' ? null : agentId,
      defaultLineId: lineId === '' ? null : lineId,
    });
    toast(words.stored);
  }
  const none = { value: '', label: words.none };
  return (
    <Form
      submit={submit}
      action={common.save}
      isDisabled={!may('settings:write')}
      fields={[
        'window.start',
        'window.end',
        'window.timezone',
        'allowedCountries',
        'blockedCountries',
        'defaultAgentId',
        'defaultLineId',
      ]}
    >
      {(faults) => (
        <>
          <Check label={words.window} isOn={hasWindow} onInput={setHasWindow} />
          {hasWindow ? (
            <>
              <div class="columns">
                <Text
                  label={words.start}
                  type="time"
                  value={window.start}
                  fault={faults['window.start']}
                  onInput={(start) => setWindow({ ...window, start })}
                />
                <Text
                  label={words.end}
                  type="time"
                  value={window.end}
                  fault={faults['window.end']}
                  onInput={(end) => setWindow({ ...window, end })}
                />
                <Text
                  label={words.zone}
                  help={words.zoneHelp}
                  value={window.timezone}
                  fault={faults['window.timezone']}
                  onInput={(timezone) => setWindow({ ...window, timezone })}
                />
              </div>
              <Choices
                legend={words.days}
                options={words.dayNames.map((label, at) => ({ value: String(at + 1), label }))}
                chosen={window.days.map(String)}
                onInput={(days) => setWindow({ ...window, days: days.map(Number).toSorted() })}
              />
            </>
          ) : null}
          <div class="columns">
            <Text
              label={words.allowed}
              help={words.allowedHelp}
              value={allowed}
              fault={faults['allowedCountries']}
              onInput={setAllowed}
            />
            <Text label={words.blocked} value={blocked} fault={faults['blockedCountries']} onInput={setBlocked} />
          </div>
          <div class="columns">
            <Select
              label={words.defaultAgent}
              value={agentId}
              fault={faults['defaultAgentId']}
              options={[none, ...agents.map(({ id, name }) => ({ value: id, label: name }))]}
              onInput={setAgentId}
            />
            <Select
              label={words.defaultLine}
              value={lineId}
              fault={faults['defaultLineId']}
              options={[none, ...lines.map(({ id, number }) => ({ value: id, label: number }))]}
              onInput={setLineId}
            />
          </div>
          <Check label={words.guardCalls} isOn={guardCalls} onInput={setGuardCalls} />
          <Check label={words.guardLeads} isOn={guardLeads} onInput={setGuardLeads} />
        </>
      )}
    </Form>
  );
}

function Policy({ policy }: { policy: DialPolicy }) {
  const { countries, ownCountries, blockedCountries, kinds, maxCallSeconds, callsPerDay, minutesPerDay, today } =
    policy;
  return (
    <Facts
      facts={[
        [
          words.countries,
          countries === null ? words.any : words.countriesOfNumbers(ownCountries.join(', '), countries.join(', ')),
        ],
        [words.blocked, blockedCountries.join(', ') || words.none],
        [words.kinds, kinds.join(', ') || words.none],
        [words.longest, maxCallSeconds === null ? words.noLimit : clockWords(maxCallSeconds)],
        [words.callsPerDay, callsPerDay ?? words.noLimit],
        [words.minutesPerDay, minutesPerDay ?? words.noLimit],
        ...(today === null
          ? []
          : [[words.today, words.todayCalls(today.calls, Math.round(today.usedSeconds / 60))] as const]),
      ]}
    />
  );
}

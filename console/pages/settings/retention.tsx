/** For how long what belongs to calls is kept, and what must not be deleted meanwhile. */
import { useState } from 'preact/hooks';
import type { Retention as Days, LegalHold } from '../../../clients/typescript/src/client.ts';
import { users } from '../../api/accounts.ts';
import { clientOf } from '../../api/request.ts';
import { may } from '../../api/session.ts';
import { common } from '../../texts/en/common.ts';
import { retentionWords as words } from '../../texts/en/settings.ts';
import { address, replaceAddress, to } from '../../ui/address.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm, Dialog } from '../../ui/dialog.tsx';
import { Select, Text } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { useLoad } from '../../ui/load.ts';
import { Section } from '../../ui/page.tsx';
import { Empty, Shown } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { useSetting } from '../../ui/tagged.tsx';
import { Words } from '../../ui/text.tsx';
import { Time } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';

type Kind = keyof Days;
const KINDS = Object.keys(words.kinds) as Kind[];

export function Retention({ enterprise }: { enterprise: string }) {
  const client = clientOf(enterprise);
  const setting = useSetting<Days>((signal) => client.readRetention({}, { signal }), [enterprise]);
  return (
    <>
      <Section title={words.title} about={words.about}>
        <Shown of={setting}>
          {({ data }) => (
            <DaysForm
              key={JSON.stringify(data)}
              known={data}
              save={(body) => setting.save((headers) => client.changeRetention({ body }, { headers }), body)}
            />
          )}
        </Shown>
        {setting.conflict}
      </Section>
      <Holds enterprise={enterprise} />
    </>
  );
}

function DaysForm({ known, save }: { known: Days; save(body: Days): Promise<void> }) {
  const [days, setDays] = useState<Record<Kind, string>>(
    () => Object.fromEntries(KINDS.map((kind) => [kind, String(known[kind])])) as Record<Kind, string>,
  );
  return (
    <Form
      submit={async () => {
        await save(Object.fromEntries(KINDS.map((kind) => [kind, Number(days[kind])])) as unknown as Days);
        toast(words.stored);
      }}
      action={common.save}
      isDisabled={!may('settings:write')}
      fields={KINDS}
    >
      {(faults) => (
        <div class="columns">
          {KINDS.map((kind) => (
            <Text
              key={kind}
              label={words.days(words.kinds[kind])}
              type="number"
              min={0}
              value={days[kind]}
              fault={faults[kind]}
              onInput={(value) => setDays({ ...days, [kind]: value })}
            />
          ))}
        </div>
      )}
    </Form>
  );
}

function Holds({ enterprise }: { enterprise: string }) {
  const client = clientOf(enterprise);
  const holds = useLoad(
    async (signal) => (await client.listLegalHolds({ limit: 200 }, { signal })).data.data,
    [enterprise],
  );
  // From a call one comes with its id.
  const [placing, setPlacing] = useState(address.peek().query.get('hold'));
  const [released, setReleased] = useState<LegalHold | null>(null);
  const mayWrite = may('settings:write');
  const people = useLoad(async () => (may('users:read') ? (await users(enterprise).list()).data : []), [enterprise]);
  const nameOf = (actor: string): string => people.data?.find(({ id }) => actor === `user:${id}`)?.name ?? actor;
  const { columns: names } = words;
  return (
    <Section
      title={words.holds}
      about={words.holdsAbout}
      isFlush
      actions={mayWrite ? <Button onPress={() => setPlacing('')}>{words.hold}</Button> : null}
    >
      <Shown of={holds} lines={2}>
        {(all) =>
          all.length === 0 ? (
            <Empty title={words.holdsEmpty} />
          ) : (
            <Table
              label={words.holds}
              rows={all}
              keyOf={({ id }) => id}
              columns={[
                {
                  name: names.of,
                  cell: ({ callUuid }) =>
                    callUuid === null ? (
                      words.everyCall
                    ) : (
                      <a href={to(['w', enterprise, 'call', callUuid])}>…{callUuid.slice(-8)}</a>
                    ),
                },
                { name: names.reason, cell: ({ reason }) => <Words>{reason}</Words> },
                { name: names.by, cell: ({ placedBy }) => <Words>{nameOf(placedBy)}</Words> },
                { name: names.when, cell: ({ placedAt }) => <Time at={placedAt} /> },
                {
                  name: names.actions,
                  isHidden: true,
                  cell: (hold) =>
                    mayWrite ? (
                      <Button kind="quiet" onPress={() => setReleased(hold)}>
                        {words.release}
                      </Button>
                    ) : null,
                },
              ]}
            />
          )
        }
      </Shown>
      {placing === null || !mayWrite ? null : (
        <HoldDialog
          enterprise={enterprise}
          of={placing}
          onClose={() => {
            setPlacing(null);
            replaceAddress(to(['w', enterprise, 'settings', 'retention']));
          }}
          onChange={holds.reload}
        />
      )}
      {released === null ? null : (
        <Confirm
          title={words.release}
          action={words.release}
          isDangerous
          run={async () => {
            await client.releaseLegalHold({ holdId: released.id });
            holds.reload();
          }}
          onClose={() => setReleased(null)}
        >
          <p>{words.releaseAsk}</p>
        </Confirm>
      )}
    </Section>
  );
}

/** `of`: the id of a call; empty: not chosen yet. Every call of the workspace is never what nobody chose. */
function HoldDialog(props: { enterprise: string; of: string; onClose(): void; onChange(): void }) {
  const { enterprise, of, onClose, onChange } = props;
  const [callUuid, setCallUuid] = useState(of);
  const [covers, setCovers] = useState<'call' | 'all'>('call');
  const [reason, setReason] = useState('');
  async function place(): Promise<void> {
    await clientOf(enterprise).placeLegalHold({
      body: { callUuid: covers === 'all' ? null : callUuid.trim(), reason },
    });
    toast(words.stored);
    onChange();
    onClose();
  }
  return (
    <Dialog title={words.hold} onClose={onClose}>
      <Form submit={place} action={words.hold} fields={['callUuid', 'reason']} onCancel={onClose}>
        {(faults) => (
          <>
            <Text label={words.holdReason} isRequired value={reason} fault={faults['reason']} onInput={setReason} />
            <Select
              label={words.holdCovers}
              value={covers}
              options={[
                { value: 'call', label: words.holdOne },
                { value: 'all', label: words.everyCall },
              ]}
              onInput={(next) => setCovers(next as typeof covers)}
            />
            {covers === 'all' ? null : (
              <Text
                label={words.holdCall}
                help={words.holdCallHelp}
                isMono
                isRequired
                value={callUuid}
                fault={faults['callUuid']}
                onInput={setCallUuid}
              />
            )}
          </>
        )}
      </Form>
    </Dialog>
  );
}

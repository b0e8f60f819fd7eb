/** Numbers from which calls are placed, and what their carrier wants to know. */
import { useState } from 'preact/hooks';
import type { PhoneNumber } from '../../../clients/typescript/src/client.ts';
import { clientOf } from '../../api/request.ts';
import { may } from '../../api/session.ts';
import { common } from '../../texts/en/common.ts';
import { linesWords as words } from '../../texts/en/settings.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Copy } from '../../ui/copy.tsx';
import { Confirm, Dialog } from '../../ui/dialog.tsx';
import { Select, Text } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Icon } from '../../ui/icons.tsx';
import { LIST_REFRESH_MS, useEvery, useLoad } from '../../ui/load.ts';
import { Menu } from '../../ui/menu.tsx';
import { Section } from '../../ui/page.tsx';
import { Empty, Shown } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { Words } from '../../ui/text.tsx';
import { toast } from '../../ui/toast.tsx';
import { LineTest } from './line-test.tsx';

type Open = { kind: 'add' } | { kind: 'credentials' | 'test' | 'limits' | 'delete'; line: PhoneNumber };

export function Lines({ enterprise }: { enterprise: string }) {
  const client = clientOf(enterprise);
  const lines = useLoad(async (signal) => (await client.listPhoneNumbers({}, { signal })).data.data, [enterprise]);
  useEvery(LIST_REFRESH_MS, lines.reload);
  const [open, setOpen] = useState<Open | null>(null);
  const close = (): void => setOpen(null);
  /** By line, since the page was opened: stored says nothing of whether the carrier takes them. */
  const [tried, setTried] = useState<Readonly<Record<string, Tried>>>({});
  const mayWrite = may('settings:write');
  const { columns: names } = words;
  /** What was stored is tried at once. */
  function stored(line: PhoneNumber): void {
    lines.reload();
    setOpen(line.hasCredentials ? { kind: 'test', line } : null);
  }
  const shared = { enterprise, onClose: close, onChange: lines.reload };
  return (
    <>
      <Section
        title={words.title}
        about={words.about}
        isFlush
        actions={
          mayWrite ? (
            <Button kind="main" icon="plus" onPress={() => setOpen({ kind: 'add' })}>
              {words.add}
            </Button>
          ) : null
        }
      >
        <Shown of={lines}>
          {(all) =>
            all.length === 0 ? (
              <Empty icon="calls" title={words.empty}>
                {words.emptyHint}
              </Empty>
            ) : (
              <Table
                label={words.title}
                rows={all}
                keyOf={({ id }) => id}
                columns={[
                  { name: names.number, isShort: true, cell: ({ number }) => <Words>{number}</Words> },
                  {
                    name: names.id,
                    isShort: true,
                    cell: ({ id }) => (
                      <span class="line">
                        <code>{id.slice(0, 8)}…</code>
                        <Copy text={id} />
                      </span>
                    ),
                  },
                  { name: names.carrier, cell: ({ carrier }) => words.carriers[carrier] ?? carrier },
                  {
                    name: names.credentials,
                    cell: ({ id, hasCredentials }) => (
                      <Credentials state={hasCredentials ? (tried[id] ?? 'stored') : 'missing'} />
                    ),
                  },
                  {
                    name: names.limits,
                    cell: ({ limits: { concurrentCalls, callsPerSecond } }) => (
                      <>
                        <span class="soft">{words.limits(concurrentCalls, callsPerSecond)}</span>
                        {concurrentCalls === 0 || callsPerSecond === 0 ? (
                          <div>
                            <Badge tone="warn">{words.off}</Badge>
                          </div>
                        ) : null}
                      </>
                    ),
                  },
                  {
                    name: names.actions,
                    isHidden: true,
                    cell: (line) =>
                      mayWrite ? (
                        <Menu
                          label={`${names.actions}: ${line.number}`}
                          class="quiet bare"
                          button={<Icon name="more" />}
                          items={[
                            line.hasCredentials
                              ? { label: words.test, run: () => setOpen({ kind: 'test', line }) }
                              : null,
                            { label: words.setCredentials, run: () => setOpen({ kind: 'credentials', line }) },
                            { label: names.limits, run: () => setOpen({ kind: 'limits', line }) },
                            { label: words.delete, isDangerous: true, run: () => setOpen({ kind: 'delete', line }) },
                          ]}
                        />
                      ) : null,
                  },
                ]}
              />
            )
          }
        </Shown>
      </Section>
      {open?.kind === 'add' ? <LineDialog {...shared} onStored={stored} /> : null}
      {open?.kind === 'credentials' ? <CredentialsDialog {...shared} line={open.line} onStored={stored} /> : null}
      {open?.kind === 'test' ? (
        <LineTest
          enterprise={enterprise}
          line={open.line}
          onTried={(isFine) => setTried((before) => ({ ...before, [open.line.id]: isFine ? 'fine' : 'refused' }))}
          onClose={close}
        />
      ) : null}
      {open?.kind === 'limits' ? <LimitsDialog {...shared} line={open.line} /> : null}
      {open?.kind === 'delete' ? (
        <Confirm
          title={words.delete}
          action={words.delete}
          isDangerous
          run={async () => {
            await client.deletePhoneNumber({ lineId: open.line.id });
            lines.reload();
          }}
          onClose={close}
        >
          <p>
            <Words>{open.line.number}</Words>: {words.deleteAsk}
          </p>
        </Confirm>
      ) : null}
    </>
  );
}

type Tried = 'fine' | 'refused';
const TONES = { missing: 'warn', stored: 'quiet', fine: 'good', refused: 'bad' } as const;

function Credentials({ state }: { state: keyof typeof TONES }) {
  return <Badge tone={TONES[state]}>{words.credentialStates[state]}</Badge>;
}

interface DialogProps {
  enterprise: string;
  onClose(): void;
  onChange(): void;
}

interface StoringProps {
  enterprise: string;
  onClose(): void;
  onStored(line: PhoneNumber): void;
}

function LineDialog({ enterprise, onClose, onStored }: StoringProps) {
  const [number, setNumber] = useState('');
  const [authId, setAuthId] = useState('');
  const [authToken, setAuthToken] = useState('');
  async function save(): Promise<void> {
    const credentials = authId === '' ? {} : { credentials: { authId, authToken } };
    const { data } = await clientOf(enterprise).createPhoneNumber({
      body: { number, carrier: 'plivo', ...credentials },
    });
    toast(words.stored);
    onStored(data.phoneNumber);
  }
  return (
    <Dialog title={words.add} onClose={onClose}>
      <Form
        submit={save}
        action={common.add}
        fields={['number', 'credentials.authId', 'credentials.authToken']}
        onCancel={onClose}
      >
        {(faults) => (
          <>
            <Text
              label={words.number}
              type="tel"
              help={words.numberHelp}
              isRequired
              value={number}
              fault={faults['number']}
              onInput={setNumber}
            />
            <Select
              label={words.carrier}
              value="plivo"
              options={[{ value: 'plivo', label: 'Plivo' }]}
              onInput={() => {}}
            />
            <Text label={words.authId} isMono value={authId} fault={faults['credentials.authId']} onInput={setAuthId} />
            <Text
              label={words.authToken}
              type="password"
              help={words.credentialsHelp}
              value={authToken}
              fault={faults['credentials.authToken']}
              onInput={setAuthToken}
            />
          </>
        )}
      </Form>
    </Dialog>
  );
}

function CredentialsDialog({ enterprise, line, onClose, onStored }: StoringProps & { line: PhoneNumber }) {
  const [authId, setAuthId] = useState('');
  const [authToken, setAuthToken] = useState('');
  async function save(): Promise<void> {
    const body = { authId, authToken };
    const { data } = await clientOf(enterprise).setPhoneNumberCredentials({ lineId: line.id, body });
    toast(words.stored);
    onStored(data.phoneNumber);
  }
  return (
    <Dialog title={words.setCredentials} onClose={onClose}>
      <Form submit={save} action={common.save} fields={['authId', 'authToken']} onCancel={onClose}>
        {(faults) => (
          <>
            <p>
              <Words>{line.number}</Words>
            </p>
            <Text label={words.authId} isMono isRequired value={authId} fault={faults['authId']} onInput={setAuthId} />
            <Text
              label={words.authToken}
              type="password"
              help={words.credentialsHelp}
              isRequired
              value={authToken}
              fault={faults['authToken']}
              onInput={setAuthToken}
            />
          </>
        )}
      </Form>
    </Dialog>
  );
}

function LimitsDialog({ enterprise, line, onClose, onChange }: DialogProps & { line: PhoneNumber }) {
  const [concurrent, setConcurrent] = useState(String(line.limits.concurrentCalls));
  const [perSecond, setPerSecond] = useState(String(line.limits.callsPerSecond));
  async function save(): Promise<void> {
    const limits = { concurrentCalls: Number(concurrent), callsPerSecond: Number(perSecond) };
    await clientOf(enterprise).changePhoneNumber({ lineId: line.id, body: { limits } });
    toast(words.stored);
    onChange();
    onClose();
  }
  return (
    <Dialog title={words.columns.limits} onClose={onClose}>
      <Form
        submit={save}
        action={common.save}
        fields={['limits.concurrentCalls', 'limits.callsPerSecond']}
        onCancel={onClose}
      >
        {(faults) => (
          <>
            <Text
              label={words.concurrent}
              type="number"
              min={0}
              value={concurrent}
              fault={faults['limits.concurrentCalls']}
              onInput={setConcurrent}
            />
            <Text
              label={words.perSecond}
              type="number"
              min={0}
              step="any"
              value={perSecond}
              fault={faults['limits.callsPerSecond']}
              onInput={setPerSecond}
            />
          </>
        )}
      </Form>
    </Dialog>
  );
}

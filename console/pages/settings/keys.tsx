/** Keys of the API: making, changing, rotating and revoking them. A key itself is shown once. */
import { useState } from 'preact/hooks';
import type { ApiKey } from '../../../clients/typescript/src/client.ts';
import { readOverview } from '../../api/overview.ts';
import { clientOf } from '../../api/request.ts';
import { may, session } from '../../api/session.ts';
import { common } from '../../texts/en/common.ts';
import { settings, keysWords as words } from '../../texts/en/settings.ts';
import { to } from '../../ui/address.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyBox } from '../../ui/copy.tsx';
import { Confirm, Dialog } from '../../ui/dialog.tsx';
import { Area, Choices, Text } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Icon } from '../../ui/icons.tsx';
import { listOf } from '../../ui/list-of.ts';
import { useLoad } from '../../ui/load.ts';
import { Menu } from '../../ui/menu.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Section } from '../../ui/page.tsx';
import { Empty, Shown } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { Words } from '../../ui/text.tsx';
import { ownZone, Time, today } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';

type Open =
  | { kind: 'edit'; key: ApiKey | null }
  | { kind: 'revoke' | 'rotate'; key: ApiKey }
  | { kind: 'secret'; secret: string };

export function Keys({ enterprise }: { enterprise: string }) {
  const client = clientOf(enterprise);
  const keys = useLoad(async (signal) => (await client.listKeys({}, { signal })).data.data, [enterprise]);
  const overview = useLoad((signal) => readOverview(enterprise, today(), ownZone, signal), [enterprise]);
  const isOff = overview.data?.notSetUp.some(({ what }) => what === 'api_access') ?? false;
  const [open, setOpen] = useState<Open | null>(null);
  const close = (): void => setOpen(null);
  const mayWrite = may('settings:write');
  const { columns: names } = words;
  const shown = (secret: string): void => {
    keys.reload();
    setOpen({ kind: 'secret', secret });
  };
  return (
    <>
      {isOff ? (
        <Notice kind="warn">
          {words.apiOff}{' '}
          {session.value?.user.isOperator === true ? (
            <a href={to(['operator', 'workspaces'])}>{words.apiOffPlace}</a>
          ) : (
            words.apiOffAsk
          )}
        </Notice>
      ) : null}
      <Section
        title={words.title}
        about={words.about}
        isFlush
        actions={
          mayWrite ? (
            <Button kind="main" icon="plus" isDisabled={isOff} onPress={() => setOpen({ kind: 'edit', key: null })}>
              {words.create}
            </Button>
          ) : null
        }
      >
        <Shown of={keys}>
          {(all) =>
            all.length === 0 ? (
              <Empty title={words.empty}>{words.emptyHint}</Empty>
            ) : (
              <Table
                label={words.title}
                rows={all}
                keyOf={({ keyId }) => keyId}
                columns={[
                  { name: names.name, cell: ({ name }) => <Words>{name}</Words> },
                  { name: names.key, cell: ({ keyId }) => <code>sv_live_{keyId}…</code> },
                  { name: names.scopes, cell: ({ scopes }) => <span class="soft">{scopes.join(', ')}</span> },
                  { name: names.used, cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
                  { name: names.state, cell: (key) => <KeyState apiKey={key} /> },
                  {
                    name: names.actions,
                    isHidden: true,
                    cell: (key) =>
                      mayWrite && stateOf(key) === 'valid' ? (
                        <Menu
                          label={`${names.actions}: ${key.name}`}
                          class="quiet bare"
                          button={<Icon name="more" />}
                          items={[
                            { label: words.edit, run: () => setOpen({ kind: 'edit', key }) },
                            { label: words.rotate, run: () => setOpen({ kind: 'rotate', key }) },
                            { label: words.revoke, isDangerous: true, run: () => setOpen({ kind: 'revoke', key }) },
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
      <Section title={words.base}>
        <div class="stack">
          <CopyBox text={location.origin} label={common.copy} />
          <p>
            <a href="/docs" target="_blank" rel="noreferrer">
              {words.docs}
            </a>
          </p>
        </div>
      </Section>
      {open?.kind === 'edit' ? (
        <KeyDialog enterprise={enterprise} apiKey={open.key} onClose={close} onSecret={shown} onChange={keys.reload} />
      ) : null}
      {open?.kind === 'secret' ? (
        <Dialog title={words.secret} onClose={close}>
          <div class="stack">
            <Notice kind="warn">{settings.onceOnly}</Notice>
            <CopyBox text={open.secret} label={common.copy} />
            <div class="actions">
              <Button kind="main" onPress={close}>
                {common.done}
              </Button>
            </div>
          </div>
        </Dialog>
      ) : null}
      {open?.kind === 'rotate' ? (
        <Confirm
          title={words.rotate}
          action={words.rotate}
          run={async () => {
            const { data } = await client.rotateKey({ keyId: open.key.keyId, body: {} });
            // After the question has closed.
            setTimeout(() => shown(data.secret));
          }}
          onClose={close}
        >
          <p>
            <Words>{open.key.name}</Words> <code>sv_live_{open.key.keyId}…</code>
          </p>
          <p>{words.rotateAsk}</p>
        </Confirm>
      ) : null}
      {open?.kind === 'revoke' ? (
        <Confirm
          title={words.revoke}
          action={words.revoke}
          isDangerous
          run={async () => {
            await client.revokeKey({ keyId: open.key.keyId });
            toast(words.revoked);
            keys.reload();
          }}
          onClose={close}
        >
          <p>
            <Words>{open.key.name}</Words> <code>sv_live_{open.key.keyId}…</code>
          </p>
          <p>{words.revokeAsk}</p>
        </Confirm>
      ) : null}
    </>
  );
}

function stateOf({ revokedAt, expiresAt }: ApiKey): keyof typeof words.states {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && Date.parse(expiresAt) < Date.now() ? 'ended' : 'valid';
}

function KeyState({ apiKey }: { apiKey: ApiKey }) {
  const state = stateOf(apiKey);
  return (
    <>
      <Badge tone={state === 'valid' ? 'good' : 'quiet'}>{words.states[state]}</Badge>
      {state === 'valid' && apiKey.expiresAt !== null ? (
        <div class="soft tiny">
          {words.expires} <Time at={apiKey.expiresAt} />
        </div>
      ) : null}
    </>
  );
}

function KeyDialog(props: {
  enterprise: string;
  apiKey: ApiKey | null;
  onClose(): void;
  onSecret(secret: string): void;
  onChange(): void;
}) {
  const { enterprise, apiKey, onClose, onSecret, onChange } = props;
  const client = clientOf(enterprise);
  const [name, setName] = useState(apiKey?.name ?? '');
  const [scopes, setScopes] = useState<string[]>(apiKey?.scopes ?? ['calls:write', 'calls:read']);
  const [cidrs, setCidrs] = useState(apiKey?.allowedCidrs.join('\n') ?? '');
  const [expires, setExpires] = useState(apiKey?.expiresAt?.slice(0, 10) ?? '');
  async function save(): Promise<void> {
    const given = {
      name,
      scopes: scopes as ApiKey['scopes'],
      allowedCidrs: listOf(cidrs),
      expiresAt: expires === '' ? null : new Date(expires).toISOString(),
    };
    if (apiKey === null) {
      const { data } = await client.createKey({ body: given });
      onSecret(data.secret);
      return;
    }
    await client.changeKey({ keyId: apiKey.keyId, body: given });
    onChange();
    onClose();
  }
  return (
    <Dialog title={apiKey === null ? words.create : words.edit} onClose={onClose}>
      <Form
        submit={save}
        action={common.save}
        isDisabled={scopes.length === 0}
        fields={['name', 'scopes', 'allowedCidrs', 'expiresAt']}
        onCancel={onClose}
      >
        {(faults) => (
          <>
            <Text label={words.name} isRequired value={name} fault={faults['name']} onInput={setName} />
            <Choices
              legend={words.scopes}
              options={Object.entries(words.scopeWords).map(([value, [label]]) => ({ value, label, help: value }))}
              chosen={scopes}
              fault={faults['scopes']}
              onInput={setScopes}
            />
            <Area
              label={words.cidrs}
              help={words.cidrsHelp}
              rows={2}
              isMono
              value={cidrs}
              fault={faults['allowedCidrs']}
              onInput={setCidrs}
            />
            <Text
              label={words.expires}
              type="date"
              help={words.expiresHelp}
              value={expires}
              fault={faults['expiresAt']}
              onInput={setExpires}
            />
          </>
        )}
      </Form>
    </Dialog>
  );
}

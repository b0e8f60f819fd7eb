/** Keys and addresses of providers: stored sealed, tried with a click. */
import { useState } from 'preact/hooks';
import type { Connection, Providers } from '../../../clients/typescript/src/client.ts';
import { clientOf } from '../../api/request.ts';
import { may } from '../../api/session.ts';
import { common } from '../../texts/en/common.ts';
import { connectionsWords as words } from '../../texts/en/settings.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Confirm, Dialog } from '../../ui/dialog.tsx';
import { Select, Text } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Icon } from '../../ui/icons.tsx';
import { useLoad } from '../../ui/load.ts';
import { Menu } from '../../ui/menu.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Section } from '../../ui/page.tsx';
import { Empty, Shown } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { Words } from '../../ui/text.tsx';
import { toast } from '../../ui/toast.tsx';

type Provider = Providers['data'][number];
type Open = { kind: 'edit'; connection: Connection | null } | { kind: 'test' | 'delete'; connection: Connection };

export function Connections({ enterprise }: { enterprise: string }) {
  const client = clientOf(enterprise);
  const known = useLoad(
    async (signal) => {
      const [connections, providers] = await Promise.all([
        client.listConnections({}, { signal }),
        client.listProviders({}, { signal }),
      ]);
      return { connections: connections.data.data, providers: providers.data.data };
    },
    [enterprise],
  );
  const [open, setOpen] = useState<Open | null>(null);
  const close = (): void => setOpen(null);
  const mayWrite = may('settings:write');
  const { columns: names } = words;
  return (
    <>
      <Section
        title={words.title}
        about={words.about}
        isFlush
        actions={
          mayWrite ? (
            <Button kind="main" icon="plus" onPress={() => setOpen({ kind: 'edit', connection: null })}>
              {words.create}
            </Button>
          ) : null
        }
      >
        <Shown of={known}>
          {({ connections, providers }) =>
            connections.length === 0 ? (
              <Empty icon="link" title={words.empty}>
                {words.emptyHint}
              </Empty>
            ) : (
              <Table
                label={words.title}
                rows={connections}
                keyOf={({ name }) => name}
                columns={[
                  { name: names.name, cell: ({ name }) => <code>{name}</code> },
                  {
                    name: names.provider,
                    cell: ({ provider }) => providers.find((one) => one.provider === provider)?.title ?? provider,
                  },
                  { name: names.address, cell: ({ baseUrl }) => <Words>{baseUrl}</Words> },
                  {
                    name: names.key,
                    cell: ({ hasCredentials }) => (
                      <Badge tone={hasCredentials ? 'good' : 'quiet'}>
                        {hasCredentials ? words.has : words.hasNot}
                      </Badge>
                    ),
                  },
                  { name: names.version, isNumber: true, cell: ({ version }) => version },
                  {
                    name: names.actions,
                    isHidden: true,
                    cell: (connection) =>
                      mayWrite ? (
                        <Menu
                          label={`${names.actions}: ${connection.name}`}
                          class="quiet bare"
                          button={<Icon name="more" />}
                          items={[
                            { label: words.test, run: () => setOpen({ kind: 'test', connection }) },
                            { label: words.change, run: () => setOpen({ kind: 'edit', connection }) },
                            {
                              label: words.delete,
                              isDangerous: true,
                              run: () => setOpen({ kind: 'delete', connection }),
                            },
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
      {open?.kind === 'edit' && known.data !== undefined ? (
        <ConnectionDialog
          enterprise={enterprise}
          connection={open.connection}
          providers={known.data.providers}
          onClose={close}
          onChange={known.reload}
        />
      ) : null}
      {open?.kind === 'test' ? (
        <TestDialog enterprise={enterprise} connection={open.connection} onClose={close} />
      ) : null}
      {open?.kind === 'delete' ? (
        <Confirm
          title={words.delete}
          action={words.delete}
          isDangerous
          run={async () => {
            await client.deleteConnection({ connectionName: open.connection.name });
            known.reload();
          }}
          onClose={close}
        >
          <p>{words.deleteAsk}</p>
        </Confirm>
      ) : null}
    </>
  );
}

function ConnectionDialog(props: {
  enterprise: string;
  connection: Connection | null;
  providers: readonly Provider[];
  onClose(): void;
  onChange(): void;
}) {
  const { enterprise, connection, providers, onClose, onChange } = props;
  const client = clientOf(enterprise);
  const [name, setName] = useState(connection?.name ?? '');
  const [provider, setProvider] = useState<Provider['provider']>(connection?.provider ?? providers[0]!.provider);
  const [baseUrl, setBaseUrl] = useState(connection?.baseUrl ?? '');
  const [apiKey, setApiKey] = useState('');
  const facts = providers.find((one) => one.provider === provider);
  async function save(): Promise<void> {
    const credentials = apiKey === '' ? {} : { credentials: { apiKey } };
    const address = baseUrl === '' ? {} : { baseUrl };
    if (connection === null) await client.createConnection({ body: { name, provider, ...address, ...credentials } });
    else await client.changeConnection({ connectionName: connection.name, body: { ...address, ...credentials } });
    toast(words.stored);
    onChange();
    onClose();
  }
  return (
    <Dialog title={connection === null ? words.create : words.change} onClose={onClose}>
      <Form
        submit={save}
        action={common.save}
        fields={['name', 'provider', 'baseUrl', 'credentials.apiKey']}
        onCancel={onClose}
      >
        {(faults) => (
          <>
            <Text
              label={words.name}
              help={words.nameHelp}
              isRequired
              isDisabled={connection !== null}
              value={name}
              fault={faults['name']}
              onInput={setName}
            />
            <Select
              label={words.provider}
              isDisabled={connection !== null}
              value={provider}
              options={providers.map((one) => ({ value: one.provider, label: one.title }))}
              onInput={(next) => setProvider(next as Provider['provider'])}
            />
            <Text
              label={words.baseUrl}
              type="url"
              placeholder={facts?.defaultBaseUrl ?? ''}
              value={baseUrl}
              fault={faults['baseUrl']}
              onInput={setBaseUrl}
            />
            <Text
              label={words.credentials}
              type="password"
              help={connection?.hasCredentials === true ? words.keep : words.credentialsHelp}
              value={apiKey}
              fault={faults['credentials.apiKey']}
              onInput={setApiKey}
            />
          </>
        )}
      </Form>
    </Dialog>
  );
}

function TestDialog({
  enterprise,
  connection,
  onClose,
}: {
  enterprise: string;
  connection: Connection;
  onClose(): void;
}) {
  const [model, setModel] = useState('');
  const [answer, setAnswer] = useState<{ isFine: boolean; text: string } | null>(null);
  async function test(): Promise<void> {
    const { data } = await clientOf(enterprise).testConnection({
      connectionName: connection.name,
      body: model === '' ? {} : { model },
    });
    setAnswer(
      data.ok
        ? { isFine: true, text: words.testFine(data.ms) }
        : { isFine: false, text: data.problem ?? data.fault ?? '' },
    );
  }
  return (
    <Dialog title={`${words.test}: ${connection.name}`} onClose={onClose}>
      <Form submit={test} action={words.test} onCancel={onClose}>
        {() => (
          <>
            {connection.provider === 'openai_compatible' ? (
              <Text label={words.model} isMono value={model} onInput={setModel} />
            ) : null}
            {answer === null ? null : <Notice kind={answer.isFine ? 'good' : 'error'}>{answer.text}</Notice>}
          </>
        )}
      </Form>
    </Dialog>
  );
}

/** Values for headers of tools. They go in and never come out. */
import { useState } from 'preact/hooks';
import { clientOf } from '../../api/request.ts';
import { may } from '../../api/session.ts';
import { common } from '../../texts/en/common.ts';
import { secretsWords as words } from '../../texts/en/settings.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm, Dialog } from '../../ui/dialog.tsx';
import { Text } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { useLoad } from '../../ui/load.ts';
import { Section } from '../../ui/page.tsx';
import { Empty, Shown } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';

export function Secrets({ enterprise }: { enterprise: string }) {
  const client = clientOf(enterprise);
  const secrets = useLoad(async (signal) => (await client.listToolSecrets({}, { signal })).data.data, [enterprise]);
  /** Null: a new one. */
  const [edited, setEdited] = useState<string | null | undefined>(undefined);
  const [removed, setRemoved] = useState<string | null>(null);
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
            <Button kind="main" icon="plus" onPress={() => setEdited(null)}>
              {words.add}
            </Button>
          ) : null
        }
      >
        <Shown of={secrets}>
          {(all) =>
            all.length === 0 ? (
              <Empty title={words.empty}>{words.emptyHint}</Empty>
            ) : (
              <Table
                label={words.title}
                rows={all}
                keyOf={({ name }) => name}
                columns={[
                  { name: names.name, cell: ({ name }) => <code>{name}</code> },
                  { name: names.changed, cell: ({ updatedAt }) => <Time at={updatedAt} /> },
                  {
                    name: names.actions,
                    isHidden: true,
                    cell: ({ name }) =>
                      mayWrite ? (
                        <>
                          <Button kind="quiet" onPress={() => setEdited(name)}>
                            {words.replace}
                          </Button>
                          <Button
                            kind="quiet"
                            icon="trash"
                            label={`${words.delete}: ${name}`}
                            onPress={() => setRemoved(name)}
                          />
                        </>
                      ) : null,
                  },
                ]}
              />
            )
          }
        </Shown>
      </Section>
      {edited === undefined ? null : (
        <SecretDialog
          enterprise={enterprise}
          name={edited}
          onClose={() => setEdited(undefined)}
          onChange={secrets.reload}
        />
      )}
      {removed === null ? null : (
        <Confirm
          title={words.delete}
          action={words.delete}
          isDangerous
          run={async () => {
            await client.deleteToolSecret({ name: removed });
            secrets.reload();
          }}
          onClose={() => setRemoved(null)}
        >
          <p>{words.deleteAsk}</p>
        </Confirm>
      )}
    </>
  );
}

function SecretDialog(props: { enterprise: string; name: string | null; onClose(): void; onChange(): void }) {
  const { enterprise, onClose, onChange } = props;
  const [name, setName] = useState(props.name ?? '');
  const [value, setValue] = useState('');
  async function save(): Promise<void> {
    await clientOf(enterprise).setToolSecret({ name, body: { value } });
    toast(words.stored);
    onChange();
    onClose();
  }
  return (
    <Dialog title={props.name === null ? words.add : words.replace} onClose={onClose}>
      <Form submit={save} action={common.save} fields={['name', 'value']} onCancel={onClose}>
        {(faults) => (
          <>
            <Text
              label={words.name}
              isMono
              isRequired
              isDisabled={props.name !== null}
              value={name}
              fault={faults['name']}
              onInput={setName}
            />
            <Text
              label={words.value}
              type="password"
              isRequired
              value={value}
              fault={faults['value']}
              onInput={setValue}
            />
          </>
        )}
      </Form>
    </Dialog>
  );
}

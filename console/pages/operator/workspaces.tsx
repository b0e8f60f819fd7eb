/** The workspaces of the service: their switch, what each may set its limits to, where it may dial. */
import { useState } from 'preact/hooks';
import type { Workspace } from '../../../clients/typescript/src/client.ts';
import { readSession } from '../../api/accounts.ts';
import { ask, clientOf } from '../../api/request.ts';
import { session } from '../../api/session.ts';
import { common } from '../../texts/en/common.ts';
import { operator as words } from '../../texts/en/operator.ts';
import { go, to } from '../../ui/address.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Check, Text } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { useLoad } from '../../ui/load.ts';
import { Section } from '../../ui/page.tsx';
import { Empty, Shown } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { Words } from '../../ui/text.tsx';
import { Time } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';
import { DialPolicyDialog } from './dial-policy.tsx';

/** Of no workspace: its operations go to the operator's door by their path. */
const client = clientOf('-');

export function Workspaces() {
  const workspaces = useLoad(async (signal) => (await client.listWorkspaces({}, { signal })).data.data, []);
  /** Null: a new one. */
  const [edited, setEdited] = useState<Workspace | null | undefined>(undefined);
  const [dialling, setDialling] = useState<Workspace | null>(null);
  const own = new Set(session.value?.workspaces.map(({ enterprise }) => enterprise));
  async function join(slug: string): Promise<void> {
    await ask(`operator/workspaces/${encodeURIComponent(slug)}/join`, { method: 'POST', body: {} });
    await readSession();
    toast(words.joined);
  }
  const { columns: names } = words;
  return (
    <Section
      title={words.title}
      isFlush
      actions={
        <Button kind="main" icon="plus" onPress={() => setEdited(null)}>
          {words.create}
        </Button>
      }
    >
      <Shown of={workspaces}>
        {(all) =>
          all.length === 0 ? (
            <Empty icon="operator" title={words.empty}>
              {words.emptyHint}
            </Empty>
          ) : (
            <Table
              label={words.title}
              rows={all}
              keyOf={({ slug }) => slug}
              columns={[
                { name: names.name, cell: ({ name }) => <Words>{name}</Words> },
                { name: names.slug, cell: ({ slug }) => <code>{slug}</code> },
                {
                  name: names.api,
                  cell: ({ apiEnabled }) => (
                    <Badge tone={apiEnabled ? 'good' : 'quiet'}>{apiEnabled ? words.apiOn : words.apiOff}</Badge>
                  ),
                },
                {
                  name: names.calls,
                  isNumber: true,
                  cell: ({ limits, caps }) => (
                    <>
                      {limits.concurrentCalls} <span class="soft">/ {caps.concurrentCalls}</span>
                    </>
                  ),
                },
                { name: names.made, cell: ({ createdAt }) => <Time at={createdAt} /> },
                {
                  name: names.actions,
                  isHidden: true,
                  cell: (workspace) => (
                    <>
                      {own.has(workspace.slug) ? (
                        <a class="button quiet" href={to(['w', workspace.slug, 'home'])}>
                          {words.open}
                        </a>
                      ) : (
                        <Button kind="quiet" onPress={() => join(workspace.slug)}>
                          {words.join}
                        </Button>
                      )}
                      <Button kind="quiet" onPress={() => setEdited(workspace)}>
                        {words.change}
                      </Button>
                      <Button kind="quiet" onPress={() => setDialling(workspace)}>
                        {words.dialling}
                      </Button>
                    </>
                  ),
                },
              ]}
            />
          )
        }
      </Shown>
      {dialling === null ? null : <DialPolicyDialog slug={dialling.slug} onClose={() => setDialling(null)} />}
      {edited === undefined ? null : edited === null ? (
        <NewDialog onClose={() => setEdited(undefined)} />
      ) : (
        <ChangeDialog workspace={edited} onClose={() => setEdited(undefined)} onChange={workspaces.reload} />
      )}
    </Section>
  );
}

interface DialogProps {
  onClose(): void;
  onChange(): void;
}

/** `River Dental` gives `river-dental`, as far as it goes. */
const shortOf = (name: string): string =>
  name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 63)
    .replace(/^-|-$/g, '');

function NewDialog({ onClose }: Pick<DialogProps, 'onClose'>) {
  const [name, setName] = useState('');
  const [typed, setSlug] = useState<string | null>(null);
  const slug = typed ?? shortOf(name);
  async function create(): Promise<void> {
    await client.createWorkspace({ body: { name, slug } });
    // Whoever makes one is its owner, and goes on there.
    await readSession();
    toast(words.stored);
    onClose();
    go(to(['w', slug, 'home']));
  }
  return (
    <Dialog title={words.create} onClose={onClose}>
      <Form submit={create} action={common.create} fields={['name', 'slug']} onCancel={onClose}>
        {(faults) => (
          <>
            <Text label={words.name} isRequired value={name} fault={faults['name']} onInput={setName} />
            <Text
              label={words.slug}
              help={words.slugHelp}
              isMono
              isRequired
              value={slug}
              fault={faults['slug']}
              onInput={setSlug}
            />
          </>
        )}
      </Form>
    </Dialog>
  );
}

type Cap = keyof typeof words.fields;
const CAPS = Object.keys(words.fields) as Cap[];

function ChangeDialog({ workspace, onClose, onChange }: DialogProps & { workspace: Workspace }) {
  const [name, setName] = useState(workspace.name);
  const [isOn, setOn] = useState(workspace.apiEnabled);
  const [caps, setCaps] = useState(
    () => Object.fromEntries(CAPS.map((cap) => [cap, String(workspace.caps[cap])])) as Record<Cap, string>,
  );
  async function save(): Promise<void> {
    const limits = Object.fromEntries(CAPS.map((cap) => [cap, Number(caps[cap])]));
    await client.changeWorkspace({ slug: workspace.slug, body: { name, apiEnabled: isOn, limits } });
    toast(words.stored);
    onChange();
    onClose();
  }
  return (
    <Dialog title={`${words.change}: ${workspace.slug}`} onClose={onClose}>
      <Form
        submit={save}
        action={common.save}
        fields={['name', ...CAPS.map((cap) => `limits.${cap}`)]}
        onCancel={onClose}
      >
        {(faults) => (
          <>
            <Text label={words.name} isRequired value={name} fault={faults['name']} onInput={setName} />
            <Check label={words.api} help={words.apiHelp} isOn={isOn} onInput={setOn} />
            <h3>{words.caps}</h3>
            <p class="soft tiny">{words.capsAbout}</p>
            <div class="columns">
              {CAPS.map((cap) => (
                <Text
                  key={cap}
                  label={words.fields[cap]}
                  type="number"
                  min={0}
                  step="any"
                  value={caps[cap]}
                  fault={faults[`limits.${cap}`]}
                  onInput={(value) => setCaps({ ...caps, [cap]: value })}
                />
              ))}
            </div>
          </>
        )}
      </Form>
    </Dialog>
  );
}

/** Who may see the workspace: inviting, changing roles, links for new passwords, removing. */
import { useState } from 'preact/hooks';
import { type Colleague, users } from '../../api/accounts.ts';
import { may, type Role, session } from '../../api/session.ts';
import { common } from '../../texts/en/common.ts';
import { usersWords as words } from '../../texts/en/settings.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyBox } from '../../ui/copy.tsx';
import { Confirm, Dialog } from '../../ui/dialog.tsx';
import { Check, Select, Text } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Icon } from '../../ui/icons.tsx';
import { isHere, linkHere } from '../../ui/link-here.ts';
import { LIST_REFRESH_MS, useEvery, useLoad } from '../../ui/load.ts';
import { Menu } from '../../ui/menu.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Section } from '../../ui/page.tsx';
import { Shown } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { Words } from '../../ui/text.tsx';
import { Time } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';

type Open =
  | { kind: 'invite' }
  | { kind: 'change' | 'remove'; person: Colleague }
  | { kind: 'link'; email: string; link: string };

const ROLES = Object.keys(words.roles) as Role[];

export function Users({ enterprise }: { enterprise: string }) {
  const people = users(enterprise);
  const list = useLoad(async () => (await people.list()).data, [enterprise]);
  useEvery(LIST_REFRESH_MS, list.reload);
  const [open, setOpen] = useState<Open | null>(null);
  const close = (): void => setOpen(null);
  const mayWrite = may('users:write');
  const own = session.value?.user.id;
  const { columns: names } = words;
  return (
    <>
      <Section
        title={words.title}
        about={words.about}
        isFlush
        actions={
          mayWrite ? (
            <Button kind="main" icon="plus" onPress={() => setOpen({ kind: 'invite' })}>
              {words.invite}
            </Button>
          ) : null
        }
      >
        <Shown of={list}>
          {(all) => (
            <Table
              label={words.title}
              rows={all}
              keyOf={({ id }) => id}
              columns={[
                {
                  name: names.person,
                  cell: ({ name, email, isActive }) => (
                    <>
                      <Words>{name || email}</Words>{' '}
                      {isActive === false ? <Badge tone="warn">{words.invited}</Badge> : null}
                      <div class="soft tiny">
                        <Words>{email}</Words>
                      </div>
                    </>
                  ),
                },
                { name: names.role, cell: ({ role }) => words.roles[role] },
                {
                  name: names.hears,
                  cell: ({ role, hears }) => (role !== 'analyst' || hears ? words.yes : words.no),
                },
                { name: names.seen, cell: ({ lastSeenAt }) => <Time at={lastSeenAt} /> },
                {
                  name: names.actions,
                  isHidden: true,
                  cell: (person) =>
                    mayWrite ? (
                      <Menu
                        label={`${names.actions}: ${person.name || person.email}`}
                        class="quiet bare"
                        button={<Icon name="more" />}
                        items={[
                          { label: words.change, run: () => setOpen({ kind: 'change', person }) },
                          {
                            label: words.reset,
                            async run() {
                              const { link } = await people.reset(person.id);
                              setOpen({ kind: 'link', email: person.email, link });
                            },
                          },
                          person.id === own
                            ? null
                            : {
                                label: words.remove,
                                isDangerous: true,
                                run: () => setOpen({ kind: 'remove', person }),
                              },
                        ]}
                      />
                    ) : null,
                },
              ]}
            />
          )}
        </Shown>
      </Section>
      {open?.kind === 'invite' || open?.kind === 'change' ? (
        <PersonDialog
          enterprise={enterprise}
          person={open.kind === 'change' ? open.person : null}
          onClose={close}
          onDone={(email, link) => {
            list.reload();
            if (link === null) close();
            else setOpen({ kind: 'link', email, link });
          }}
        />
      ) : null}
      {open?.kind === 'link' ? (
        <Dialog title={words.linkTitle} onClose={close}>
          <div class="stack">
            <p class="soft">{words.linkAbout(open.email)}</p>
            <CopyBox text={linkHere(open.link)} label={common.copy} />
            {isHere(location.hostname) ? <Notice kind="warn">{words.linkHere(location.host)}</Notice> : null}
          </div>
        </Dialog>
      ) : null}
      {open?.kind === 'remove' ? (
        <Confirm
          title={words.remove}
          action={words.remove}
          isDangerous
          run={async () => {
            await people.remove(open.person.id);
            toast(words.removed);
            list.reload();
          }}
          onClose={close}
        >
          <p>{words.removeAsk(open.person.name || open.person.email)}</p>
        </Confirm>
      ) : null}
    </>
  );
}

function PersonDialog(props: {
  enterprise: string;
  person: Colleague | null;
  onClose(): void;
  onDone(email: string, link: string | null): void;
}) {
  const { enterprise, person, onClose, onDone } = props;
  const [email, setEmail] = useState(person?.email ?? '');
  const [name, setName] = useState(person?.name ?? '');
  const [role, setRole] = useState<Role>(person?.role ?? 'supervisor');
  const [hears, setHears] = useState(person?.hears ?? false);
  async function save(): Promise<void> {
    const people = users(enterprise);
    if (person !== null) {
      await people.change(person.id, { role, hears });
      toast(words.stored);
      onDone(person.email, null);
      return;
    }
    const { link } = await people.invite({ email, name, role, hears });
    if (link === null) toast(words.added);
    onDone(email, link);
  }
  return (
    <Dialog title={person === null ? words.invite : words.change} onClose={onClose}>
      <Form
        submit={save}
        action={person === null ? words.inviteAction : common.save}
        fields={['email', 'name', 'role', 'hears']}
        onCancel={onClose}
      >
        {(faults) => (
          <>
            <Text
              label={words.email}
              type="email"
              isRequired
              isDisabled={person !== null}
              value={email}
              fault={faults['email']}
              onInput={setEmail}
            />
            {person === null ? (
              <Text label={words.name} isRequired value={name} fault={faults['name']} onInput={setName} />
            ) : null}
            <Select
              label={words.role}
              help={words.roleAbout[role]}
              value={role}
              fault={faults['role']}
              options={ROLES.map((value) => ({ value, label: words.roles[value] }))}
              onInput={(next) => setRole(next as Role)}
            />
            {role === 'analyst' ? <Check label={words.hears} isOn={hears} onInput={setHears} /> : null}
          </>
        )}
      </Form>
    </Dialog>
  );
}

/** The passkeys of oneself: listed with where and when they were used, added, named, removed. */
import { useState } from 'preact/hooks';
import { me, readSession } from '../../api/accounts.ts';
import { isDeclined, mayHavePasskeys, type Passkey, passkeys } from '../../api/passkeys.ts';
import { common } from '../../texts/en/common.ts';
import { accountWords as words } from '../../texts/en/settings.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Text } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { useLoad } from '../../ui/load.ts';
import { Section } from '../../ui/page.tsx';
import { Shown } from '../../ui/states.tsx';
import { Words } from '../../ui/text.tsx';
import { Time } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';
import { Current } from './current-password.tsx';

type Open = { kind: 'add' | 'only' } | { kind: 'rename' | 'remove'; passkey: Passkey };

export function Passkeys({ hasPassword }: { hasPassword: boolean }) {
  const list = useLoad(async () => (await passkeys.list()).data, []);
  const [open, setOpen] = useState<Open | null>(null);
  async function done(said: string): Promise<void> {
    setOpen(null);
    list.reload();
    await readSession();
    toast(said);
  }
  return (
    <Section title={words.passkeys} about={words.passkeysAbout}>
      <Shown of={list} lines={1}>
        {(all) => (
          <div class="stack">
            {all.length === 0 ? null : (
              <ul class="items">
                {all.map((one) => (
                  <li key={one.id} class="line apart">
                    <div class="grow">
                      <Words>{one.name}</Words> {one.isSynced ? <Badge>{words.passkeySynced}</Badge> : null}
                      <div class="soft tiny">
                        {words.passkeyHost(one.host)} ·{' '}
                        {one.lastUsedAt === null ? (
                          words.passkeyNever
                        ) : (
                          <>
                            {words.passkeyUsed} <Time at={one.lastUsedAt} />
                          </>
                        )}
                      </div>
                    </div>
                    <Button onPress={() => setOpen({ kind: 'rename', passkey: one })}>{words.passkeyRename}</Button>
                    <Button onPress={() => setOpen({ kind: 'remove', passkey: one })}>{words.passkeyRemove}</Button>
                  </li>
                ))}
              </ul>
            )}
            {mayHavePasskeys() ? (
              <div class="line">
                <Button icon="plus" onPress={() => setOpen({ kind: 'add' })}>
                  {words.passkeyAdd}
                </Button>
                {hasPassword && all.length >= 2 ? (
                  <Button onPress={() => setOpen({ kind: 'only' })}>{words.passkeysOnly}</Button>
                ) : null}
              </div>
            ) : (
              <p class="soft">{words.passkeysUnable}</p>
            )}
          </div>
        )}
      </Shown>
      {open === null ? null : (
        <PasskeyDialog open={open} hasPassword={hasPassword} onClose={() => setOpen(null)} onDone={done} />
      )}
    </Section>
  );
}

function PasskeyDialog(props: {
  open: Open;
  hasPassword: boolean;
  onClose(): void;
  onDone(said: string): Promise<void>;
}) {
  const { open, hasPassword, onClose, onDone } = props;
  const { kind } = open;
  const known = 'passkey' in open ? open.passkey : null;
  const [name, setName] = useState(kind === 'rename' ? (known?.name ?? '') : '');
  const [password, setPassword] = useState('');
  async function run(): Promise<void> {
    if (kind === 'add') {
      await passkeys.add(name, password).catch((error: unknown) => {
        throw toldIn(error);
      });
      return onDone(words.passkeyAdded);
    }
    if (kind === 'only') {
      await me.removePassword(password);
      return onDone(words.passkeysOnlyDone);
    }
    if (known === null) return;
    if (kind === 'rename') {
      await passkeys.rename(known.id, name);
      return onDone(common.saved);
    }
    await passkeys.remove(known.id, password);
    return onDone(words.passkeyRemoved);
  }
  const titles = {
    add: words.passkeyAdd,
    only: words.passkeysOnly,
    rename: words.passkeyRename,
    remove: words.passkeyRemove,
  };
  const isNamed = kind === 'add' || kind === 'rename';
  return (
    <Dialog title={titles[kind]} onClose={onClose}>
      <Form
        submit={run}
        action={kind === 'rename' ? common.save : titles[kind]}
        isDangerous={kind === 'only' || kind === 'remove'}
        fields={['name', 'password']}
        onCancel={onClose}
      >
        {(faults) => (
          <>
            {kind === 'remove' && known !== null ? <p>{words.passkeyRemoveAsk(known.name)}</p> : null}
            {kind === 'only' ? <p>{words.passkeysOnlyAsk}</p> : null}
            {isNamed ? (
              <Text
                label={words.passkeyName}
                help={words.passkeyNameHelp}
                isRequired
                autofocus
                value={name}
                fault={faults['name']}
                onInput={setName}
              />
            ) : null}
            {hasPassword && kind !== 'rename' ? (
              <Current value={password} fault={faults['password']} onInput={setPassword} />
            ) : null}
          </>
        )}
      </Form>
    </Dialog>
  );
}

/** What the browser says is for programmers. */
function toldIn(error: unknown): unknown {
  if (isDeclined(error)) return new Error(words.passkeyDeclined);
  if (error instanceof Error && error.name === 'InvalidStateError') return new Error(words.passkeyKnown);
  return error;
}

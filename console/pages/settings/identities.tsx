/** The accounts at the OpenID provider that sign oneself in: shown where there is a provider. */
import { useState } from 'preact/hooks';
import { type Identity, me, readSession, readSignInWays } from '../../api/accounts.ts';
import { refusedBecause } from '../../api/session.ts';
import { accountWords as words } from '../../texts/en/settings.ts';
import { signInWords } from '../../texts/en/shell.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form.tsx';
import { useLoad } from '../../ui/load.ts';
import { Notice } from '../../ui/notice.tsx';
import { Section } from '../../ui/page.tsx';
import { Words } from '../../ui/text.tsx';
import { Time } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';
import { Current } from './current-password.tsx';

export function Identities({ hasPassword }: { hasPassword: boolean }) {
  const found = useLoad(async () => {
    const [{ openId }, { data }] = await Promise.all([readSignInWays(), me.identities()]);
    return { name: openId?.name ?? null, all: data };
  }, []);
  const [open, setOpen] = useState<Identity | 'new' | null>(null);
  if (found.data === undefined || found.data.name === null) return null;
  const { name, all } = found.data;
  const close = (): void => setOpen(null);
  return (
    <Section title={words.identities} about={words.identitiesAbout(name)}>
      <div class="stack">
        {refusedBecause.value === 'openid_taken' ? (
          <Notice kind="error">{signInWords.refused.openid_taken}</Notice>
        ) : null}
        {all.length === 0 ? null : (
          <ul class="items">
            {all.map((one) => (
              <li key={one.id} class="line apart">
                <div class="grow">
                  <Words>{one.email ?? one.issuer}</Words>
                  <div class="soft tiny">
                    {words.seen} <Time at={one.lastUsedAt} />
                  </div>
                </div>
                <Button onPress={() => setOpen(one)}>{words.identityRemove}</Button>
              </li>
            ))}
          </ul>
        )}
        <div class="line">
          <Button icon="plus" onPress={() => setOpen('new')}>
            {words.identityAdd(name)}
          </Button>
        </div>
      </div>
      {open === null ? null : (
        <IdentityDialog
          open={open}
          title={open === 'new' ? words.identityAdd(name) : words.identityRemove}
          hasPassword={hasPassword}
          onClose={close}
          onRemoved={async () => {
            close();
            found.reload();
            await readSession();
            toast(words.identityRemoved);
          }}
        />
      )}
    </Section>
  );
}

function IdentityDialog(props: {
  open: Identity | 'new';
  title: string;
  hasPassword: boolean;
  onClose(): void;
  onRemoved(): Promise<void>;
}) {
  const { open, title, hasPassword, onClose, onRemoved } = props;
  const [password, setPassword] = useState('');
  async function run(): Promise<void> {
    if (open === 'new') return me.addIdentity(password);
    await me.removeIdentity(open.id, password);
    await onRemoved();
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <Form
        submit={run}
        action={open === 'new' ? words.identityGo : words.identityRemove}
        isDangerous={open !== 'new'}
        fields={['password']}
        onCancel={onClose}
      >
        {(faults) => (
          <>
            {open === 'new' ? null : <p>{words.identityRemoveAsk(open.email ?? open.issuer)}</p>}
            {hasPassword ? <Current value={password} fault={faults['password']} onInput={setPassword} /> : null}
          </>
        )}
      </Form>
    </Dialog>
  );
}

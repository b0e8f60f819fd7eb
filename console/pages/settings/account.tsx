/** Oneself: name, password, passkeys, accounts elsewhere, codes of an authenticator, and where one is signed in. */
import { useState } from 'preact/hooks';
import { me, readSession } from '../../api/accounts.ts';
import { session } from '../../api/session.ts';
import { common } from '../../texts/en/common.ts';
import { accountWords as words } from '../../texts/en/settings.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyBox } from '../../ui/copy.tsx';
import { Text } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { useLoad } from '../../ui/load.ts';
import { Section } from '../../ui/page.tsx';
import { Shown } from '../../ui/states.tsx';
import { Words } from '../../ui/text.tsx';
import { Time } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';
import { Current } from './current-password.tsx';
import { Identities } from './identities.tsx';
import { Passkeys } from './passkeys.tsx';

export function Account() {
  const user = session.value?.user;
  const [name, setName] = useState(user?.name ?? '');
  if (user === undefined) return null;
  return (
    <>
      <Section title={words.profile}>
        <Form
          submit={async () => {
            await me.change({ name });
            await readSession();
            toast(common.saved);
          }}
          action={common.save}
          fields={['name']}
        >
          {(faults) => (
            <div class="columns">
              <Text
                label={words.name}
                autocomplete="name"
                isRequired
                value={name}
                fault={faults['name']}
                onInput={setName}
              />
              <Text label={words.email} isDisabled value={user.email} onInput={() => {}} />
            </div>
          )}
        </Form>
      </Section>
      <Password has={user.hasPassword} />
      <Passkeys hasPassword={user.hasPassword} />
      <Identities hasPassword={user.hasPassword} />
      <Totp isOn={user.totp} hasPassword={user.hasPassword} />
      <Sessions />
    </>
  );
}

function Password({ has }: { has: boolean }) {
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  return (
    <Section title={words.password} about={has ? words.passwordAbout : words.passwordNone}>
      <Form
        submit={async () => {
          await me.setPassword({ ...(has ? { current } : {}), password: next });
          setCurrent('');
          setNext('');
          await readSession();
          toast(words.changed);
        }}
        action={has ? words.change : words.setPassword}
        fields={['current', 'password']}
      >
        {(faults) => (
          <div class="columns">
            {has ? <Current value={current} fault={faults['current']} onInput={setCurrent} /> : null}
            <Text
              label={words.next}
              type="password"
              autocomplete="new-password"
              help={words.nextHelp}
              isRequired
              value={next}
              fault={faults['password']}
              onInput={setNext}
            />
          </div>
        )}
      </Form>
    </Section>
  );
}

function Totp({ isOn, hasPassword }: { isOn: boolean; hasPassword: boolean }) {
  const [begun, setBegun] = useState<{ uri: string; secret: string } | null>(null);
  const [code, setCode] = useState('');
  const [password, setPassword] = useState('');
  async function begin(): Promise<void> {
    setBegun(await me.beginTotp(password));
    setPassword('');
  }
  async function confirm(): Promise<void> {
    await me.confirmTotp(code.replace(/\s/g, ''));
    setBegun(null);
    setCode('');
    await readSession();
    toast(words.totpDone);
  }
  async function end(): Promise<void> {
    await me.endTotp(password);
    setPassword('');
    await readSession();
    toast(words.totpEnded);
  }
  return (
    <Section title={words.totp} about={words.totpAbout}>
      {isOn ? (
        <div class="stack">
          <p>
            <Badge tone="good">{words.totpOn}</Badge>
          </p>
          <Form submit={end} action={words.totpEnd} isDangerous fields={['password']}>
            {(faults) =>
              hasPassword ? <Current value={password} fault={faults['password']} onInput={setPassword} /> : null
            }
          </Form>
        </div>
      ) : begun === null ? (
        <Form submit={begin} action={words.totpBegin} fields={['password']}>
          {(faults) =>
            hasPassword ? <Current value={password} fault={faults['password']} onInput={setPassword} /> : null
          }
        </Form>
      ) : (
        <div class="stack">
          <p class="soft">{words.totpSecret}</p>
          <CopyBox text={begun.secret} label={common.copy} />
          <p>
            <a href={begun.uri}>{words.totpOpen}</a>
          </p>
          <Form submit={confirm} action={words.totpConfirm} fields={['code']} onCancel={() => setBegun(null)}>
            {(faults) => (
              <Text
                label={words.totpCode}
                inputMode="numeric"
                autocomplete="one-time-code"
                isRequired
                value={code}
                fault={faults['code']}
                onInput={setCode}
              />
            )}
          </Form>
        </div>
      )}
    </Section>
  );
}

function Sessions() {
  const sessions = useLoad(async () => (await me.sessions()).data, []);
  async function end(id: string): Promise<void> {
    await me.endSession(id);
    toast(words.ended);
    sessions.reload();
  }
  return (
    <Section title={words.sessions}>
      <Shown of={sessions} lines={2}>
        {(all) => (
          <ul class="items">
            {all.map((one) => (
              <li key={one.id} class="line apart">
                <div class="grow">
                  <Words>{one.userAgent}</Words>
                  <div class="soft tiny">
                    {one.ip} · {words.seen} <Time at={one.lastSeenAt} />
                  </div>
                </div>
                {one.isThis ? (
                  <Badge tone="accent">{words.thisOne}</Badge>
                ) : (
                  <Button onPress={() => end(one.id)}>{words.end}</Button>
                )}
              </li>
            ))}
          </ul>
        )}
      </Shown>
    </Section>
  );
}

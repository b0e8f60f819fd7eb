/**
 * What a one-time link opens: the first person's account, an invitation, a new password. The token stood behind the `#`
 * of the address and is taken out of it at once, so that the history does not keep it.
 */
import { useState } from 'preact/hooks';
import { type Link, readLink, takeLink } from '../../api/accounts.ts';
import { linkWords as words } from '../../texts/en/shell.ts';
import { go, to } from '../../ui/address.ts';
import { wordsOf } from '../../ui/error-words.ts';
import { Text } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Gate } from '../../ui/gate.tsx';
import { useLoad } from '../../ui/load.ts';
import { Failure, Loading } from '../../ui/states.tsx';

export function LinkPage({ token }: { token: string }) {
  const link = useLoad(() => readLink(token), [token]);
  if (link.data !== undefined) return <LinkForm token={token} link={link.data} />;
  if (link.isLoading) return <Loading lines={3} />;
  if (wordsOf(link.error).kind !== 'missing') return <Failure error={link.error} onRetry={link.reload} />;
  return (
    <Gate title={words.over}>
      <p class="soft">{words.overHint}</p>
      <a class="button" href={to([])}>
        {words.toSignIn}
      </a>
    </Gate>
  );
}

function LinkForm({ token, link }: { token: string; link: Link }) {
  const { purpose } = link;
  const [name, setName] = useState(link.name ?? '');
  const [email, setEmail] = useState(link.email ?? '');
  const [password, setPassword] = useState('');
  const [fault, setFault] = useState<string>();
  const isFirst = purpose === 'first_user';
  /** What is wrong with a password names no field. */
  function ofPassword(error: unknown): boolean {
    const [only, ...more] = wordsOf(error).details;
    const isOfPassword = only?.field === '' && more.length === 0;
    setFault(isOfPassword ? only.issue : undefined);
    return isOfPassword;
  }
  async function take(): Promise<void> {
    await takeLink(token, { password, ...(purpose === 'reset' ? {} : { name }), ...(isFirst ? { email } : {}) });
    go(to([]));
  }
  return (
    <Gate title={words[purpose]}>
      <p class="soft">
        {purpose === 'invitation'
          ? words.about.invitation(link.workspace?.name ?? link.workspace?.enterprise ?? 'Parley')
          : words.about[purpose]}
      </p>
      <Form submit={take} action={words.action[purpose]} fields={['name', 'email', 'password']} onError={ofPassword}>
        {(faults) => (
          <>
            {purpose === 'reset' ? null : (
              <Text
                label={words.name}
                autocomplete="name"
                isRequired
                autofocus
                value={name}
                fault={faults['name']}
                onInput={setName}
              />
            )}
            <Text
              label={words.email}
              type="email"
              autocomplete="username"
              isRequired
              isDisabled={!isFirst}
              value={email}
              fault={faults['email']}
              onInput={setEmail}
            />
            <Text
              label={words.password}
              type="password"
              autocomplete="new-password"
              isRequired
              autofocus={purpose === 'reset'}
              help={words.passwordHint}
              value={password}
              fault={faults['password'] ?? fault}
              onInput={setPassword}
            />
          </>
        )}
      </Form>
    </Gate>
  );
}

/**
 * Signing in, on a page of its own or over the page on which a session ended. Asks for a code only where one is
 * needed.
 */
import { useState } from 'preact/hooks';
import { ParleyError } from '../../../clients/typescript/src/parley-error.ts';
import { signIn } from '../../api/accounts.ts';
import { isFirstUserMissing } from '../../api/session.ts';
import { common } from '../../texts/en/common.ts';
import { signInWords as words } from '../../texts/en/shell.ts';
import { Button } from '../../ui/button.tsx';
import { CopyBox } from '../../ui/copy.tsx';
import { wordsOf } from '../../ui/error-words.ts';
import { Text } from '../../ui/field.tsx';
import { Gate } from '../../ui/gate.tsx';
import { Notice } from '../../ui/notice.tsx';

export function SignInForm({ email: known = '' }: { email?: string }) {
  const [email, setEmail] = useState(known);
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const [wantsCode, setWantsCode] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);

  async function submit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    setBusy(true);
    setFault(null);
    try {
      await signIn({ email, password, ...(code === '' ? {} : { code: code.replace(/\s/g, '') }) });
    } catch (error) {
      const refused = error instanceof ParleyError ? error : null;
      if (refused?.code === 'second_factor_needed' && !wantsCode) setWantsCode(true);
      else if (refused?.code === 'second_factor_needed') setFault(words.wrongCode);
      else if (refused?.code === 'wrong_credentials') setFault(words.wrong);
      else if (refused !== null && refused.retryAfterSeconds !== null) setFault(words.wait(refused.retryAfterSeconds));
      else setFault(wordsOf(error).title);
    } finally {
      setBusy(false);
    }
  }
  return (
    <form class="stack" onSubmit={(event) => void submit(event)}>
      <Text
        label={words.email}
        type="email"
        autocomplete="username"
        isRequired
        autofocus={known === ''}
        value={email}
        onInput={setEmail}
      />
      <Text
        label={words.password}
        type="password"
        autocomplete="current-password"
        isRequired
        autofocus={known !== ''}
        value={password}
        onInput={setPassword}
      />
      {wantsCode ? (
        <Text
          label={words.code}
          help={words.codeHint}
          autocomplete="one-time-code"
          inputMode="numeric"
          isRequired
          autofocus
          value={code}
          onInput={setCode}
        />
      ) : null}
      {fault === null ? null : <Notice kind="error">{fault}</Notice>}
      <Button type="submit" kind="main" isBusy={isBusy}>
        {words.action}
      </Button>
    </form>
  );
}

export function SignInPage() {
  if (isFirstUserMissing.value) {
    return (
      <Gate title={words.noUser}>
        <div class="stack">
          <p class="soft">{words.noUserHint}</p>
          <CopyBox text={words.command} label={common.copy} />
        </div>
      </Gate>
    );
  }
  return (
    <Gate title={words.title} below={<p class="soft tiny">{words.forgot}</p>}>
      <SignInForm />
    </Gate>
  );
}

/**
 * Signing in, on a page of its own or over the page on which a session ended. Asks for a code or a passkey beside the
 * password only where one is needed; a passkey alone is enough, too.
 */
import { useState } from 'preact/hooks';
import { ParleyError } from '../../../clients/typescript/src/parley-error.ts';
import { readSignInWays, signIn, signInByOpenId } from '../../api/accounts.ts';
import { isDeclined, mayHavePasskeys, signInByPasskey } from '../../api/passkeys.ts';
import { isFirstUserMissing, refusedBecause } from '../../api/session.ts';
import { common } from '../../texts/en/common.ts';
import { signInWords as words } from '../../texts/en/shell.ts';
import { Button } from '../../ui/button.tsx';
import { CopyBox } from '../../ui/copy.tsx';
import { wordsOf } from '../../ui/error-words.ts';
import { Text } from '../../ui/field.tsx';
import { Gate } from '../../ui/gate.tsx';
import { useLoad } from '../../ui/load.ts';
import { Notice } from '../../ui/notice.tsx';

export function SignInForm({ email: known = '' }: { email?: string }) {
  const [email, setEmail] = useState(known);
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  /** What is taken beside the password, once the service has said that something is. */
  const [takes, setTakes] = useState<readonly string[]>([]);
  const ways = useLoad(readSignInWays, []);
  const openId = ways.data?.openId ?? null;
  const [fault, setFault] = useState(() => whyRefused(refusedBecause.peek()));
  const [isBusy, setBusy] = useState(false);

  async function trying(work: () => Promise<void>): Promise<void> {
    setBusy(true);
    setFault(null);
    try {
      await work();
    } catch (error) {
      setFault(faultOf(error, code !== ''));
    } finally {
      setBusy(false);
    }
  }
  async function withPassword(): Promise<void> {
    try {
      await signIn({ email, password, ...(code === '' ? {} : { code: code.replace(/\s/g, '') }) });
    } catch (error) {
      if (!(error instanceof ParleyError) || error.code !== 'second_factor_needed') throw error;
      const asked = error.details.map(({ field }) => field);
      setTakes(asked);
      // Nothing to type: the browser asks at once.
      if (!asked.includes('code')) await signInByPasskey({ email, password });
    }
  }
  const withPasskey = (): Promise<void> => signInByPasskey(takes.length === 0 ? null : { email, password });
  const isSecond = takes.includes('passkey');
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void trying(withPassword);
      }}
    >
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
      {takes.includes('code') ? (
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
      {mayHavePasskeys() && (takes.length === 0 || isSecond) ? (
        <Button isBusy={isBusy} onPress={() => void trying(withPasskey)}>
          {isSecond ? words.passkeyBeside : words.passkey}
        </Button>
      ) : null}
      {openId === null ? null : (
        <Button isBusy={isBusy} onPress={() => void trying(signInByOpenId)}>
          {words.openId(openId.name)}
        </Button>
      )}
    </form>
  );
}

function whyRefused(code: string | null): string | null {
  if (code === null) return null;
  const { refused } = words;
  return Object.hasOwn(refused, code) ? refused[code as keyof typeof refused] : refused.openid_refused;
}

function faultOf(error: unknown, isCodeShown: boolean): string {
  if (isDeclined(error)) return words.declined;
  if (!(error instanceof ParleyError)) return wordsOf(error).title;
  if (error.code === 'wrong_credentials') return isCodeShown ? words.wrongCode : words.wrong;
  if (error.code === 'wrong_passkey') return words.wrongPasskey;
  return error.retryAfterSeconds === null ? wordsOf(error).title : words.wait(error.retryAfterSeconds);
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

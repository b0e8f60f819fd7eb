/** The frame of all pages: where one is, where one can go by one's role, who one is. */
import { useEffect, useState } from 'preact/hooks';
import { isReachable } from '../api/request.ts';
import { enterprise, isLost, type Session } from '../api/session.ts';
import { common } from '../texts/en/common.ts';
import { shell as words } from '../texts/en/shell.ts';
import { address, go, to } from '../ui/address.ts';
import { Dialog } from '../ui/dialog.tsx';
import { keepDraftsOf, remember, remembered } from '../ui/draft.ts';
import { Icon } from '../ui/icons.tsx';
import { Empty, Failure } from '../ui/states.tsx';
import { Operator, PAGES, SignInForm } from './pages.ts';
import { Side } from './side.tsx';

export function Shell({ session }: { session: Session }) {
  const { path, query } = address.value;
  const [kind, slug, page = 'home', ...rest] = path;
  const [isOpen, setOpen] = useState(false);
  const isOperators = kind === 'operator';
  const here = kind === 'w' ? (session.workspaces.find((one) => one.enterprise === slug) ?? null) : null;
  // From the operator's side the ways lead back into the workspace that was seen last.
  const last = isOperators ? remembered<string | null>('workspace', null) : null;
  const beside = here ?? session.workspaces.find((one) => one.enterprise === last) ?? null;
  enterprise.value = here?.enterprise ?? null;
  keepDraftsOf(session.user.id);

  useEffect(() => {
    if (here !== null) {
      remember('workspace', here.enterprise);
      return;
    }
    if (kind === 'w' || isOperators) return;
    const last = remembered<string | null>('workspace', null);
    const first = session.workspaces.find((one) => one.enterprise === last) ?? session.workspaces[0];
    if (first !== undefined) location.replace(to(['w', first.enterprise, 'home']));
    else if (session.user.isOperator) go(to(['operator']));
  }, [here, kind, isOperators, session]);
  // Closed wherever one goes.
  useEffect(() => setOpen(false), [address.value]);

  const Page = here === null ? undefined : PAGES[page];
  return (
    <div class="shell">
      <button type="button" class="skip" onClick={() => document.querySelector<HTMLElement>('.stage h1')?.focus()}>
        {words.skip}
      </button>
      <header class="top">
        <button
          type="button"
          class="button quiet bare"
          aria-label={words.menu}
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name="menu" size={20} />
        </button>
        <span>{here?.name ?? words.product}</span>
      </header>
      <Side session={session} here={beside} page={isOperators ? 'operator' : page} isOpen={isOpen} />
      {isOpen ? <button type="button" class="shade" aria-label={common.close} onClick={() => setOpen(false)} /> : null}
      <main class="stage">
        {isReachable.value ? null : (
          <div class="offline" role="status">
            <Icon name="warn" /> {common.offline}
          </div>
        )}
        {isOperators && session.user.isOperator ? (
          <Operator key={session.user.id} rest={path.slice(1)} />
        ) : here !== null && Page !== undefined ? (
          <Page
            key={`${session.user.id}/${here.enterprise}/${page}`}
            enterprise={here.enterprise}
            rest={rest}
            query={query}
          />
        ) : session.workspaces.length === 0 && !session.user.isOperator ? (
          <>
            <h1 class="hidden">{words.noWorkspace}</h1>
            <Empty title={words.noWorkspace}>{words.noWorkspaceHint}</Empty>
          </>
        ) : kind === undefined ? null : (
          <>
            <h1 class="hidden">{common.notFound}</h1>
            <Failure error={new Error(common.notFound)} />
          </>
        )}
      </main>
      {isLost.value ? (
        <Dialog title={words.again} mayClose={false} onClose={() => {}}>
          <div class="stack">
            <p class="soft">{words.againHint}</p>
            <SignInForm email={session.user.email} />
          </div>
        </Dialog>
      ) : null}
    </div>
  );
}

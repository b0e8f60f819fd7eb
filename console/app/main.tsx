/** The console's start: asks who is signed in, and shows what the address says. */
import { render } from 'preact';
import { readSession } from '../api/accounts.ts';
import { isReachable } from '../api/request.ts';
import { refusedBecause, session } from '../api/session.ts';
import { shell } from '../texts/en/shell.ts';
import { address, replaceAddress, to } from '../ui/address.ts';
import { Gate } from '../ui/gate.tsx';
import { useLoad } from '../ui/load.ts';
import { Failure } from '../ui/states.tsx';
import { Toasts } from '../ui/toast.tsx';
import { Link, SignIn } from './pages.ts';
import { keepRightsTrue } from './rights.ts';
import { Shell } from './shell.tsx';

const [kind, token] = address.peek().path;
/** Taken out of the address before anything else can see it. */
let linkToken = kind === 'link' ? token : undefined;
if (linkToken !== undefined) replaceAddress(to(['link']));
if (kind === 'refused' && token !== undefined) {
  refusedBecause.value = token;
  replaceAddress(to([]));
}
addEventListener('hashchange', () => {
  const [word, given] = address.peek().path;
  if (word !== 'link' || given === undefined) return;
  linkToken = given;
  replaceAddress(to(['link']));
});

function Console() {
  const asked = useLoad(async () => {
    await readSession();
    return true;
  }, []);
  if (address.value.path[0] === 'link' && linkToken !== undefined) return <Link token={linkToken} />;
  if (session.value === null) return <SignIn />;
  if (session.value !== undefined) return <Shell session={session.value} />;
  if (asked.error === undefined) return null;
  return (
    <Gate title={shell.cannotStart}>
      <Failure error={asked.error} onRetry={asked.reload} />
    </Gate>
  );
}

// Back at the window, or back on the network: what the shell says of the service should be true.
for (const name of ['online', 'focus'] as const) {
  addEventListener(name, () => {
    if (!isReachable.peek() && session.peek()) void readSession().catch(() => {});
  });
}
keepRightsTrue();
render(
  <>
    <Console />
    <Toasts />
  </>,
  document.getElementById('console')!,
);

/**
 * What is checked when somebody saves a URL: its form, and where it leads right now. A name that does not resolve today may
 * tomorrow, so only an answer that is refused counts; each request is checked again when it is made (`pinned-dial.ts`). Plain http must
 * be seen to stay within the operator's ranges, so there a name without an answer is refused too.
 */
import type { Clock } from '../contract/clock.ts';
import type { AddressGuard } from './address-guard.ts';
import type { ResolveName } from './name-lookup.ts';
import { checkedAddresses, RefusedAddress } from './pinned-dial.ts';
import { parseTargetUrl, plainHttpProblem } from './target-url.ts';

/** A resolver that takes longer is not waited for. */
const LOOKUP_LIMIT_MS = 2_000;

/** What it takes to see where an address leads. */
export interface AddressCheck {
  guard: AddressGuard;
  resolveName: ResolveName;
  clock: Clock;
}

/** Null when the URL will do, else what completes the sentence "The URL …". */
export async function problemOfTarget(text: string, deps: AddressCheck): Promise<string | null> {
  const target = parseTargetUrl(text, deps.guard);
  if (!target.ok) return target.problem;
  const { protocol, hostname } = target.url;
  const unseen =
    protocol === 'http:' ? `${plainHttpProblem(deps.guard)}, and ${hostname} has no address there now` : null;
  const lookUp = new AbortController();
  let cancel = (): void => {};
  const tooLate = new Promise<string | null>((resolve) => {
    cancel = deps.clock.after(LOOKUP_LIMIT_MS, () => resolve(unseen));
  });
  const looked = checkedAddresses(target.url, deps.guard, deps.resolveName, lookUp.signal).then(
    () => null,
    (error: unknown) => (error instanceof RefusedAddress ? `will not do: ${error.message}` : unseen),
  );
  const problem = await Promise.race([looked, tooLate]);
  cancel();
  lookUp.abort();
  return problem;
}

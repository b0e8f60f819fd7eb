/**
 * What is checked when somebody saves a URL: its form, and where it leads right now. A name that does not resolve today may
 * tomorrow, so only an answer that is refused counts; each request is checked again when it is made (`pinned-dial.ts`).
 */
import type { Clock } from '../../media/contract/clock.ts';
import type { AddressGuard } from './address-guard.ts';
import { checkedAddresses, RefusedAddress, type ResolveName } from './pinned-dial.ts';
import { parseTargetUrl } from './target-url.ts';

/** A resolver that takes longer is not waited for. */
const LOOKUP_LIMIT_MS = 2_000;

/** Null when the URL will do, else what completes the sentence "The URL …". */
export async function problemOfTarget(
  text: string,
  deps: { guard: AddressGuard; resolveName: ResolveName; clock: Clock },
): Promise<string | null> {
  const target = parseTargetUrl(text, deps.guard);
  if (!target.ok) return target.problem;
  let cancel = (): void => {};
  const tooLate = new Promise<null>((resolve) => {
    cancel = deps.clock.after(LOOKUP_LIMIT_MS, () => resolve(null));
  });
  const looked = checkedAddresses(target.url, deps.guard, deps.resolveName).then(
    () => null,
    (error: unknown) => (error instanceof RefusedAddress ? `will not do: ${error.message}` : null),
  );
  const problem = await Promise.race([looked, tooLate]);
  cancel();
  return problem;
}

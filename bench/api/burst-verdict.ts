/**
 * What a burst of placements may not do, whatever saturates: place none at all, leave a request without an answer,
 * refuse one without saying when to come again, lose a call that it has acknowledged, or dial one that it has refused.
 * Pure.
 */
import type { OfferedAnswer } from './offer.ts';

export interface BurstOutcome {
  /** In the order of the requests; `to` is E.164, another one for each. */
  requests: readonly { to: string; answer: Pick<OfferedAnswer, 'status' | 'headers' | 'body'> }[];
  /** Whom the carrier dialled, as often as it did. */
  dialled: readonly string[];
  /** Rows of `calls`. */
  stored: ReadonlySet<string>;
}

/** Every kind of fault once, with how often and the first of them. */
export function burstFaults({ requests, dialled, stored }: BurstOutcome): string[] {
  const times = new Map<string, number>();
  for (const to of dialled) times.set(to, (times.get(to) ?? 0) + 1);
  const found = new Map<string, string[]>();
  const add = (kind: string, what: string): void => void found.set(kind, [...(found.get(kind) ?? []), what]);
  for (const { to, answer } of requests) {
    const { status, headers, body } = answer;
    const rang = times.get(to) ?? 0;
    if (status === 0) add('had no answer', `${to}: ${body.message}`);
    else if (status !== 200 && status !== 429 && status !== 503)
      add(`were answered ${status}`, `${to}: ${body.message}`);
    else if (status !== 200 && !(Number(headers['retry-after']) >= 1)) add('were refused without Retry-After', to);
    if (status === 200 && rang === 0) add('were acknowledged and not dialled', to);
    if (status === 200 && !stored.has(body.callUuid ?? '')) add('were acknowledged and are not stored', to);
    if (status !== 200 && rang > 0) add('were refused and dialled', to);
    if (rang > 1) add('were dialled more than once', to);
  }
  return [
    ...(requests.some(({ answer }) => answer.status === 200) ? [] : ['none was placed']),
    ...[...found].map(([kind, all]) => `${all.length} ${kind}, the first: ${all[0]}`),
  ];
}

/** `200: 480, 503 overloaded: 1520` */
export function answersByKind(answers: readonly Pick<OfferedAnswer, 'status' | 'headers'>[]): Map<string, number> {
  const kinds = new Map<string, number>();
  for (const { status, headers } of answers) {
    const code = headers['x-error-code'];
    const kind = code === undefined ? String(status) : `${status} ${code}`;
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  return new Map([...kinds].toSorted(([, one], [, other]) => other - one));
}

/** How far the sending of a webhook is, the same on every page. */
import { deliveryStates, sentWords } from '../texts/en/deliveries.ts';
import { Badge } from './badge.tsx';

const TONES = { pending: 'busy', delivered: 'good', failed: 'warn', dead: 'bad' } as const;

/** `lastStatus`: of HTTP; null: no answer came. */
export function DeliveryState({ state, lastStatus }: { state: keyof typeof TONES; lastStatus: number | null }) {
  return (
    <Badge tone={TONES[state]}>
      {deliveryStates[state]}
      {lastStatus === null ? '' : ` · ${lastStatus}`}
    </Badge>
  );
}

/** What became of one that was asked to be sent, in a sentence. */
export function outcomeWords(delivery: {
  state: keyof typeof TONES;
  lastStatus: number | null;
  lastError: string | null;
}): string {
  const { state, lastStatus, lastError } = delivery;
  if (state === 'pending') return sentWords.waits;
  if (state === 'delivered') return sentWords.delivered(lastStatus);
  return sentWords.failed(lastError ?? `HTTP ${lastStatus}`, deliveryStates[state]);
}

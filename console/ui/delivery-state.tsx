/** How far the sending of a webhook is, the same on every page. */
import { deliveryStates, sentWords } from '../texts/en/deliveries.ts';
import { Badge } from './badge.tsx';
import { toast, toastWarning } from './toast.tsx';

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

/** Says what became of one that was asked to be sent. */
export function tellOutcome(delivery: {
  state: keyof typeof TONES;
  lastStatus: number | null;
  lastError: string | null;
}): void {
  const { state, lastStatus, lastError } = delivery;
  if (state === 'delivered') toast(sentWords.delivered(lastStatus));
  else if (state === 'pending') toastWarning(sentWords.waits);
  else toastWarning(sentWords.failed(lastError ?? `HTTP ${lastStatus}`, deliveryStates[state]));
}

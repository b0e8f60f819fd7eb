/** How far the sending of a webhook is, the same on every page. */
import { deliveryStates } from '../texts/en/deliveries.ts';
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

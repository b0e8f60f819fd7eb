/** What happened, in its order, with the time since the call was placed. */
import type { Call } from '../../../clients/typescript/src/client.ts';
import { call as words } from '../../texts/en/call.ts';
import type { Loaded } from '../../ui/load.ts';
import { Empty, Shown } from '../../ui/states.tsx';
import { Json } from '../../ui/text.tsx';
import type { CallEventList } from './use-call-events.ts';

export function Events({ call, events }: { call: Call; events: Loaded<CallEventList> }) {
  const beganMs = Date.parse(call.createdAt);
  return (
    <Shown of={events}>
      {(all) =>
        all.length === 0 ? (
          <Empty title={words.eventsNone} />
        ) : (
          <ol class="items events">
            {all.map((event) => (
              <li key={event.id}>
                <details>
                  <summary>
                    <span class="clock soft">+{((Date.parse(event.at) - beganMs) / 1_000).toFixed(2)} s</span>
                    <code>{event.kind}</code>
                    <span class="soft brief">{brief(event.data)}</span>
                  </summary>
                  <Json value={event.data} />
                </details>
              </li>
            ))}
          </ol>
        )
      }
    </Shown>
  );
}

/** The first few plain values, to tell events of one kind apart without opening them. */
function brief(data: Record<string, unknown>): string {
  return Object.values(data)
    .filter((value) => ['string', 'number', 'boolean'].includes(typeof value) && value !== '')
    .slice(0, 3)
    .map((value) => String(value).slice(0, 60))
    .join(' · ');
}

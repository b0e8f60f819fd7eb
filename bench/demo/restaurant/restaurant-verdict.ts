/** Did the free conversation really happen: a tool, a correction by the caller, an interruption, a booking, a price? */
import { commonFaultsOf, type Evidence, faultsIn } from '../evidence.ts';

type Unit = NonNullable<Evidence['entry']['cost']>['usage'][number]['unit'];

/** Faults in plain words; empty when all of it happened. `wanted`: what the call log must say was used. */
export function faultsOfRestaurant(
  evidence: Evidence,
  reservation: { reference: string; spoken: string },
  wanted: readonly Unit[],
): string[] {
  const { entry, emulated, used } = evidence;
  const days = used.filter(({ body }) => body.tool === 'check_table').map(({ body }) => lower(body.arguments['day']));
  const booked = used.filter(({ body }) => body.tool === 'book_table').map(({ body }) => body.arguments);
  const said = entry.turns.filter(({ role }) => role === 'agent').map(({ heardText }) => lower(heardText));
  const tellsIt = (text: string): boolean => text.includes(reservation.reference) || text.includes(reservation.spoken);
  const units = new Set((entry.cost?.usage ?? []).map(({ unit }) => unit));
  return [
    ...commonFaultsOf(evidence),
    ...faultsIn([
      [emulated.said.length >= 6, `the callee spoke ${emulated.said.length} times, not 6`],
      [days.includes('friday'), `no table was looked for on Friday, which the callee asked for (${days.join(', ')})`],
      [days.at(-1) === 'saturday', `the callee's correction to Saturday was not followed (${days.join(', ')})`],
      [booked.length === 1, `book_table was asked ${booked.length} times, not once`],
      [booked.every(({ day }) => lower(day) === 'saturday'), 'the table was booked for another day than Saturday'],
      [booked.every(({ name }) => lower(name) === 'dana'), 'the table was booked under another name than Dana'],
      [said.some(tellsIt), 'the agent did not say the number of the reservation'],
      [entry.endedReason === 'agent_hangup', `the agent did not end the call (${entry.endedReason})`],
      [
        wanted.every((unit) => units.has(unit)),
        `the call log does not say what was used of each provider (${[...units].join(', ')})`,
      ],
    ]),
  ];
}

const lower = (text: string | undefined): string => (text ?? '').toLowerCase();

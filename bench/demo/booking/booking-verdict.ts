/**
 * Did the conversation really happen? Each line is checked against what was recorded, none against what was printed.
 */
import { commonFaultsOf, type Evidence, faultsIn } from '../evidence.ts';

/** Faults in plain words; empty when all of it happened. */
export function faultsOfBooking(evidence: Evidence): string[] {
  const { entry, emulated, used } = evidence;
  const intents = entry.turns.filter((turn) => turn.role === 'user').map((turn) => turn.intent);
  return [
    ...commonFaultsOf(evidence),
    ...faultsIn([
      [intents.includes('confirmed'), `the callee's “yes” was not recognised (intents: ${intents.join(', ')})`],
      [intents.includes('asked_parking'), `the callee's question was not recognised (intents: ${intents.join(', ')})`],
      [emulated.said.length >= 3, `the callee spoke ${emulated.said.length} times, not 3`],
      [used.length === 1, `the agent's tool was asked ${used.length} times, not once`],
      [entry.transcript?.includes('Doctor Lee') === true, 'the agent did not say what its tool answered'],
    ]),
  ];
}

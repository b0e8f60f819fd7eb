/** The one map of carriers whose media streams the tool speaks. A carrier more is a folder more and a line here. */
import { plivoProtocol } from './plivo/plivo-protocol.ts';
import { twilioProtocol } from './twilio/twilio-protocol.ts';
import type { CarrierProtocol } from './wire.ts';

export const PROTOCOLS = { plivo: plivoProtocol, twilio: twilioProtocol } satisfies Record<string, CarrierProtocol>;

/** Whose event it is, that another's target does not send: told by its name. Null: nobody's. */
export function protocolOfEvent(event: unknown): ProtocolName | null {
  const names = Object.keys(PROTOCOLS) as ProtocolName[];
  return names.find((name) => typeof event === 'string' && PROTOCOLS[name].targetEvents.includes(event)) ?? null;
}

export type ProtocolName = keyof typeof PROTOCOLS;

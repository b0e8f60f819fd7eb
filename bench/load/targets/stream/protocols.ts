/** The one map of carriers whose media streams the tool speaks. A carrier more is a folder more and a line here. */
import { plivoProtocol } from './plivo/plivo-protocol.ts';
import { twilioProtocol } from './twilio/twilio-protocol.ts';
import type { CarrierProtocol } from './wire.ts';

export const PROTOCOLS = { plivo: plivoProtocol, twilio: twilioProtocol } satisfies Record<string, CarrierProtocol>;

export type ProtocolName = keyof typeof PROTOCOLS;

/**
 * The settings `PARLEY_<CARRIER>_FRAMES_PER_MESSAGE`: one for each carrier that takes more than one length. Read by
 * `service-settings.ts`.
 */
import { z } from 'zod';
import { CARRIER_NAMES, CARRIERS, type CarrierName, type FramesPerMessage } from '../../media/contract/carriers.ts';
import { framesVariable } from '../carriers/setting-names.ts';

const choicesOf = (carrier: CarrierName): readonly FramesPerMessage[] => CARRIERS[carrier].framesPerMessage;

function field(carrier: CarrierName): [string, z.ZodDefault<z.ZodEnum>] {
  const name = framesVariable(carrier);
  const choices = choicesOf(carrier).map(String);
  return [name, z.enum(choices, `must be ${choices.join(' or ')}`).default(choices[0]!)];
}

export const carrierFrames = {
  fields: Object.fromEntries(CARRIER_NAMES.filter((carrier) => choicesOf(carrier).length > 1).map(field)),

  read(given: Readonly<Record<string, unknown>>): Record<CarrierName, FramesPerMessage> {
    const chosen = CARRIER_NAMES.map((carrier) => {
      const choices = choicesOf(carrier);
      return [carrier, choices.find((frames) => String(frames) === given[framesVariable(carrier)]) ?? choices[0]!];
    });
    return Object.fromEntries(chosen) as Record<CarrierName, FramesPerMessage>;
  },
};

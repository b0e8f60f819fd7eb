/**
 * The carriers that there are, and what each declares of itself: the one list. Control, the command line, `parley
 * doctor`, phone lines, the settings and media read it; each side has one map from these names to what it runs
 * (`src/carriers/carriers.ts`, `media/io/carriers/codecs.ts`, `bench/emulators/emulators.ts`), and no other file knows
 * a carrier's folder. What is declared here is held to by `test/unit/carriers/carrier-conformance.ts`.
 */
import { type LegFormat, MULAW_8K } from './audio-format.ts';

export interface CarrierDeclaration {
  /** As people write it. */
  title: string;
  /** What its factory reads, in the order in which people are asked for it. */
  credentials: readonly CredentialField[];
  /** What its media stream can carry, both ways. The first is what calls get. */
  formats: readonly [LegFormat, ...LegFormat[]];
  /**
   * 20 ms frames in one message to it. The first is the preset; where there are more, PARLEY_<NAME>_FRAMES_PER_MESSAGE
   * chooses. 3 needs a far end that buffers and has clear and checkpoints: a third of the sends, and up to 10 ms more
   * of lead.
   */
  framesPerMessage: readonly [FramesPerMessage, ...FramesPerMessage[]];
  capabilities: CarrierCapabilities;
}

export interface CredentialField {
  /** As the stored credentials name it: `authId`. */
  name: string;
  /** For people: what to give. */
  about: string;
  /** Taken from a file or the environment only, never shown, never logged. */
  secret: boolean;
}

export type FramesPerMessage = 1 | 3;

/**
 * What not every carrier can. Each has its part in `Carrier` or in the media codec, which is there exactly where this
 * says so.
 */
export interface CarrierCapabilities {
  /** An active call can be told to follow another document: `Carrier.redirect`. */
  redirect: boolean;
  /** An active call can be handed to another number: `Carrier.transfer`. */
  transfer: boolean;
  /** It can say whether a person or a machine answered: `PlaceRequest.detectMachine`, and a `machine` event. */
  machineDetection: boolean;
  /**
   * Keys towards the far end: in the media stream (`MediaCodec.digitsMessage`), by request (`Carrier.sendDigits`), or
   * not at all.
   */
  digitsOut: 'stream' | 'request' | 'none';
  /** Calls can come in: `Carrier.parseIncoming`. */
  inbound: boolean;
}

export const CARRIERS = {
  plivo: {
    title: 'Plivo',
    credentials: [
      { name: 'authId', about: "the carrier account's id", secret: false },
      { name: 'authToken', about: 'its token', secret: true },
    ],
    formats: [MULAW_8K, { codec: 'pcm_s16le', rateHz: 8000 }, { codec: 'pcm_s16le', rateHz: 16000 }],
    framesPerMessage: [1, 3],
    capabilities: { redirect: true, transfer: false, machineDetection: false, digitsOut: 'stream', inbound: false },
  },
} as const satisfies Record<string, CarrierDeclaration>;

export type CarrierName = keyof typeof CARRIERS;

export const CARRIER_NAMES = Object.keys(CARRIERS) as CarrierName[];

export function isCarrierName(name: string): name is CarrierName {
  return Object.hasOwn(CARRIERS, name);
}

/** Undefined: there is no such carrier. */
export function carrierDeclaration(name: string): CarrierDeclaration | undefined {
  return isCarrierName(name) ? CARRIERS[name] : undefined;
}

/** Names of those that are not given, or are empty. */
export function missingCredentials(name: CarrierName, given: Readonly<Record<string, string | undefined>>): string[] {
  return credentialNames(name).filter((field) => (given[field] ?? '') === '');
}

export function credentialNames(name: CarrierName): string[] {
  return CARRIERS[name].credentials.map((field) => field.name);
}

/** What a call's leg at this carrier travels in. Throws for a carrier that does not exist. */
export function formatAtCarrier(name: string): LegFormat {
  const declared = carrierDeclaration(name);
  if (declared === undefined) throw unknownCarrier(name);
  return declared.formats[0];
}

/** Says which there are. */
export function unknownCarrier(name: string): Error {
  return new Error(`There is no carrier "${name}"; there are: ${CARRIER_NAMES.join(', ')}.`);
}

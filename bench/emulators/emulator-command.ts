/**
 * What every carrier's emulator takes and gives, and what one adds on the command line: its account, and options that
 * only it has. Declared by each carrier's folder, collected in `emulators.ts`, read by `main.ts`.
 */
import type { ParseArgsConfig, parseArgs } from 'node:util';
import type { CallTruth } from './call-truth.ts';
import type { Callee, CalleeListener } from './callees/callee.ts';
import type { EmulatorEvent } from './emulator-event.ts';
import type { Persona, PersonaInput, RecitingPersona, SpeakingPersona } from './persona.ts';

export interface EmulatorOptions {
  personas: readonly PersonaInput[];
  /** 0 (the default) takes a free one. */
  port?: number;
  host?: string;
  /** Makes callees that have a voice; without it such a persona cannot be called. */
  createSpeakingCallee?: (persona: SpeakingPersona | RecitingPersona, listener: CalleeListener) => Callee;
  onEvent?: (event: EmulatorEvent) => void;
  /** False for load runs: 16 kB a call-second are saved. */
  keepAudio?: boolean;
  /** Asked before the personas are. */
  guests?: Guests;
}

/**
 * Who answers where no two calls are alike: a load run's callees. Calls that they answered are forgotten at their end.
 */
export interface Guests {
  /** Who has this number, E.164; null: none of them, and the personas are asked. The call begins afterwards. */
  personaOf(to: string, call: GuestCall): Persona | null;
  /** While the phone rings. */
  calleeOf(persona: Persona, call: GuestCall): Callee;
  /** Once for each call that `personaOf` took, also for one that nobody answered. */
  over(persona: Persona, call: GuestCall): void;
}

export interface GuestCall {
  callUuid: string;
  truth: CallTruth;
  /** At once, also of a phone that rings; a call that is over stays so. */
  hangUp(): void;
}

export interface RunningEmulator {
  readonly port: number;
  /** What `CARRIER_API_BASE_<CARRIER>` must be. */
  readonly apiBase: string;
  /** Hangs up every call (without callbacks) and frees everything. */
  close(): Promise<void>;
}

type Named = NonNullable<ParseArgsConfig['options']>;
type Values<Options extends Named> = ReturnType<typeof parseArgs<{ options: Options }>>['values'];

export interface EmulatorCommand<Options extends Named = Named> {
  /** Of the carrier's own, beside those that all have. */
  options: Options;
  /** Of each: what it means. */
  meanings: { [Name in keyof Options]: string };
  start(own: Values<Options>, options: EmulatorOptions): Promise<RunningEmulator>;
}

/** Lets the compiler hold `start` to the options that it is given. */
export function emulatorCommand<const Options extends Named>(command: EmulatorCommand<Options>): typeof command {
  return command;
}

/**
 * Who answers a number, and what goes wrong on the way: the emulator's scripts, as JSON. Read by `main.ts` from a file,
 * given by tests as objects. A persona says nothing of how a carrier works.
 */

import { z } from 'zod';
import { LOCAL_VOICES } from '../../media/contract/local-voices.ts';
import { UNANSWERED_OUTCOMES } from './outcomes.ts';

const CALLBACK_KINDS = ['ring', 'answer', 'hangup', 'stream'] as const;
export type CallbackKind = (typeof CALLBACK_KINDS)[number];

const atMs = z.number().min(0);
const listOfKinds = z.array(z.enum(CALLBACK_KINDS)).default([]);

/** What the REST API does with a placement. `times` limits it to the first so many; the rest are ordinary. */
const placementFault = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('status'),
    httpStatus: z.number().int().min(400).max(599),
    error: z.string().optional(),
    retryAfterSeconds: z.number().optional(),
    /** The carrier dials although it says that it failed. */
    dials: z.boolean().default(false),
    times: z.number().int().positive().optional(),
  }),
  /** No answer ever; the connection stays open. */
  z.strictObject({
    kind: z.literal('silence'),
    dials: z.boolean().default(false),
    times: z.number().int().positive().optional(),
  }),
  /** 201 after so long, but the phone is dialled at once. */
  z.strictObject({ kind: z.literal('late'), afterMs: atMs, times: z.number().int().positive().optional() }),
  z.strictObject({
    kind: z.literal('reset'),
    dials: z.boolean().default(false),
    times: z.number().int().positive().optional(),
  }),
]);

const callbackFaults = z.strictObject({
  doubled: listOfKinds,
  unsigned: listOfKinds,
  wrongSignature: listOfKinds,
  lost: listOfKinds,
  /** Sent so much later than due: a late ring comes after the answer. */
  lateMs: z.partialRecord(z.enum(CALLBACK_KINDS), atMs).default({}),
});

const mediaFault = z.discriminatedUnion('kind', [
  /** The last character of the path is changed before dialling. */
  z.strictObject({ kind: z.literal('wrong_token') }),
  /** The upgrade request carries no signature. */
  z.strictObject({ kind: z.literal('unsigned_upgrade') }),
  /** A second socket with the same URL is opened `atMs` after the first. */
  z.strictObject({ kind: z.literal('reused_token'), atMs }),
  z.strictObject({ kind: z.literal('garbage'), atMs }),
  z.strictObject({ kind: z.literal('binary'), atMs }),
  z.strictObject({ kind: z.literal('huge'), atMs, bytes: z.number().int().default(1_048_576) }),
  z.strictObject({ kind: z.literal('half_message'), atMs }),
  /** Not a message is sent, not even `start`. */
  z.strictObject({ kind: z.literal('silence') }),
  /** Frames are held back and sent together, `frames` at a time, from `atMs` on. */
  z.strictObject({ kind: z.literal('burst'), atMs, frames: z.number().int().min(2).max(50) }),
  /** Frames are lost for so long; sequence numbers and chunks go on. */
  z.strictObject({ kind: z.literal('gap'), atMs, lengthMs: atMs }),
  /** All along: frames come late, by up to `jitterMs` more than `delayMs`, and a share of them never. */
  z.strictObject({
    kind: z.literal('poor_line'),
    delayMs: atMs.default(0),
    jitterMs: atMs.default(0),
    lossShare: z.number().min(0).max(1).default(0),
    seed: z.number().int().default(1),
  }),
  /** The carrier closes the socket without warning while the call goes on. */
  z.strictObject({ kind: z.literal('drop'), atMs }),
]);

const faults = z.strictObject({
  placement: placementFault.optional(),
  callbacks: callbackFaults.prefault({}),
  media: z.array(mediaFault).default([]),
});

const base = {
  name: z.string().min(1),
  /** E.164; `*` at the end stands for any rest, and alone for any number. */
  number: z.string().regex(/^(\+\d{1,15}\*?|\*)$/, 'must be E.164, a prefix with *, or *'),
  /** From acceptance to the first ring. */
  dialMs: z.number().min(0).default(20),
  ringMs: z.number().min(0).default(300),
  outcome: z.enum(['answer', ...UNANSWERED_OUTCOMES]).default('answer'),
  /** After the answer. */
  hangsUpAfterMs: z.number().positive().optional(),
  faults: faults.prefault({}),
};

/** A thing to say when one of the cue phrases was heard. Tried in order; each answers once, unless it `repeats`. */
const listens = z.strictObject({
  hears: z.array(z.string().regex(/^[a-z']+( [a-z']+)*$/, 'cue phrases are lower-case words')).min(1),
  says: z.string().min(1).optional(),
  /** Says its last words once more, instead of `says`. */
  saysAgain: z.boolean().default(false),
  /** From the end of what the agent says; no sooner than `patienceMs`, which is how long the end takes to show. */
  afterMs: z.number().min(0).default(300),
  /**
   * Instead: talks into the agent's words, so long after they began, or as soon after that as the cue was recognised.
   */
  interruptsAfterMs: z.number().min(0).optional(),
  repeats: z.boolean().default(false),
  /** Hangs up so long after its words (or at once when it says nothing). */
  thenHangsUpAfterMs: z.number().min(0).optional(),
});

/** Begins while the agent speaks: so long after its words began. */
const interruptingLine = z.strictObject({ says: z.string().min(1), interruptsAfterMs: z.number().min(0) });

/** A sound, and when it begins. */
const interjection = z.strictObject({
  /** 8 kHz mono 16-bit WAV. */
  path: z.string(),
  /** What it is, for `said`. */
  says: z.string().min(1),
  /** After: the call's first frame, the agent's first sound, or the end of this callee's sound before. */
  after: z.enum(['start', 'agent', 'own']),
  atMs,
});

const personaSchema = z.discriminatedUnion('kind', [
  z.strictObject({ ...base, kind: z.literal('silent') }),
  z.strictObject({ ...base, kind: z.literal('tone'), toneHz: z.number().min(50).max(3_500).default(440) }),
  /** 8 kHz mono 16-bit WAV, played once from the answer; then silence. */
  z.strictObject({ ...base, kind: z.literal('wav'), path: z.string() }),
  z.strictObject({
    ...base,
    kind: z.literal('speaking'),
    /** A voice of the local engine, other than the agent's. */
    voice: z.enum(LOCAL_VOICES).default('rms'),
    /** Said on the answer, unasked. */
    greets: z.string().optional(),
    listens: z.array(listens),
    /** Silence after which the agent has finished. */
    patienceMs: z.number().min(200).default(700),
    /** Said when nothing was understood. */
    otherwise: z
      .strictObject({
        says: z.string(),
        afterMs: z.number().min(0).default(800),
        times: z.number().int().min(1).default(2),
      })
      .optional(),
    hangsUpAfterSilenceMs: z.number().positive().default(20_000),
  }),
  /** Says its lines in turn, understands nothing, and hangs up after the last answer. */
  z.strictObject({
    ...base,
    kind: z.literal('reciting'),
    voice: z.enum(LOCAL_VOICES).default('rms'),
    lines: z.array(z.union([z.string().min(1), interruptingLine])).min(1),
    /** Silence of the agent, after its words, in which the next line begins. */
    afterMs: z.number().min(200).default(900),
    /** It waits no longer for an agent that says nothing. */
    patienceMs: z.number().positive().default(8_000),
  }),
  /** Plays sounds at instants that it does not choose by what it hears, over the noise of its room. */
  z.strictObject({
    ...base,
    kind: z.literal('interjecting'),
    sounds: z.array(interjection).min(1),
    /** 8 kHz mono 16-bit WAV, from the first frame on and again from its beginning. */
    room: z.string().optional(),
  }),
]);

export type Persona = z.output<typeof personaSchema>;
/** A persona as written, before defaults. */
export type PersonaInput = z.input<typeof personaSchema>;
export type Listening = z.output<typeof listens>;
export type SpeakingPersona = Extract<Persona, { kind: 'speaking' }>;
export type RecitingPersona = Extract<Persona, { kind: 'reciting' }>;
export type InterjectingPersona = Extract<Persona, { kind: 'interjecting' }>;
export type PlacementFault = z.output<typeof placementFault>;
export type CallbackFaults = z.output<typeof callbackFaults>;
export type MediaFault = z.output<typeof mediaFault>;

/** Throws with the path of each fault. */
export function parsePersonas(value: unknown): Persona[] {
  const parsed = z.array(personaSchema).safeParse(value);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  throw new Error(`personas: ${issues.join('; ')}`);
}

/** Finds who answers: the exact number, else the longest prefix. `to` may lack its plus, as carriers send it. */
export function personaFor(personas: readonly Persona[], to: string): Persona | null {
  const number = to.startsWith('+') ? to : `+${to}`;
  let best: Persona | null = null;
  let bestLength = -1;
  for (const persona of personas) {
    const isPrefix = persona.number.endsWith('*');
    const pattern = isPrefix ? persona.number.slice(0, -1) : persona.number;
    const length = isPrefix ? pattern.length : Number.POSITIVE_INFINITY;
    if (length > bestLength && (isPrefix ? number.startsWith(pattern) : number === pattern)) {
      best = persona;
      bestLength = length;
    }
  }
  return best;
}

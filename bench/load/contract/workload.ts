/**
 * A workload file: who calls when, for how long, and what they do. The one description that the schedule, `--dry-run`,
 * the docs and the report's page of settings are made of. Read by `workload/read-workload.ts`; times are seconds where
 * a person writes them, and become milliseconds in a `PlannedCall`.
 */
import { z } from 'zod';

const seconds = z.number().min(0).max(86_400);
const share = z.number().min(0).max(1);
const perSecond = z.number().positive().max(1_000);

/** A number, or a range in which each call draws its own evenly. */
const spread = z.union([seconds, z.tuple([seconds, seconds]).refine(([least, most]) => least <= most, 'least first')]);

/** When calls begin, one phase after the other. */
const phase = z.discriminatedUnion('arrivals', [
  /** Independent callers: exponential gaps of this mean rate. */
  z.strictObject({ arrivals: z.literal('poisson'), perSecond, forSeconds: seconds }),
  /** Evenly rising (or falling) Poisson rate. */
  z.strictObject({
    arrivals: z.literal('ramp'),
    fromPerSecond: z.number().min(0).max(1_000),
    toPerSecond: perSecond,
    forSeconds: seconds,
  }),
  /** So many at once, spread evenly over `overSeconds`; then a rest. */
  z.strictObject({
    arrivals: z.literal('burst'),
    calls: z.number().int().positive().max(10_000),
    overSeconds: seconds.default(0),
    restSeconds: seconds.default(0),
  }),
  /** As many as it takes that so many talk at the same time; a call that ends is replaced. */
  z.strictObject({
    arrivals: z.literal('level'),
    calls: z.number().int().positive().max(10_000),
    rampSeconds: seconds.default(5),
    forSeconds: seconds,
  }),
  /** The beginnings of calls of a call log: a CSV or JSON export, its hours pressed into `forSeconds`. */
  z.strictObject({ arrivals: z.literal('replay'), path: z.string().min(1), forSeconds: seconds.optional() }),
]);

/** What the far end says. */
const talk = z.discriminatedUnion('kind', [
  /** Nothing at all. */
  z.strictObject({ kind: z.literal('silent') }),
  /** Sound and silence in turns that listen to nobody, as voices are timed (ITU-T P.59). */
  z.strictObject({
    kind: z.literal('on-off'),
    talkSeconds: spread.default([0.5, 2]),
    silenceSeconds: spread.default([0.8, 3]),
  }),
  /** Takes turns: waits until the agent has spoken and was silent for `afterMs`, then says the next clip. */
  z.strictObject({
    kind: z.literal('turns'),
    /** 8 kHz mono 16-bit WAV, beside the workload file; none: sentences of the tool's own making. */
    clips: z.array(z.string().min(1)).default([]),
    turns: z.number().int().positive().max(500).default(6),
    afterMs: z.number().min(100).max(10_000).default(700),
    /** It waits no longer for an agent that says nothing. */
    patienceMs: z.number().min(500).max(60_000).default(8_000),
    /** This share of its turns is said into the agent's words, `bargeInAfterMs` after they began. */
    bargeInShare: share.default(0),
    bargeInAfterMs: z.number().min(0).max(30_000).default(1_500),
  }),
]);

/** What the line does to frames on their way to the target. */
const network = z.strictObject({
  delayMs: z.number().min(0).max(5_000).default(0),
  jitterMs: z.number().min(0).max(2_000).default(0),
  /** Frames that never come. */
  lossShare: share.default(0),
});

const caller = z.strictObject({
  /** Shown in the report; unique in the file. */
  name: z.string().min(1).max(60),
  /** Of all calls, relative to the other callers' weights. */
  weight: z.number().positive().default(1),
  by: z.enum(['phone', 'browser']).default('phone'),
  /** Of browser sessions. */
  codec: z.enum(['pcm16', 'mulaw', 'opus']).default('pcm16'),
  /** Before the answer. */
  ringSeconds: spread.default(0.3),
  /** What happens to the call instead of an answer, for this share of it. */
  unanswered: z
    .strictObject({ noAnswer: share.default(0), busy: share.default(0), declined: share.default(0) })
    .prefault({}),
  /** From the answer to the far end's hang-up; the target may hang up sooner. */
  lengthSeconds: spread.default(20),
  talk: talk.prefault({ kind: 'turns' }),
  network: network.prefault({}),
  /** Browser sessions: this share loses its socket once and resumes. */
  resumeShare: share.default(0),
});

export const workloadSchema = z.strictObject({
  /** Of this format. */
  version: z.literal(1),
  name: z.string().min(1).max(60),
  about: z.string().max(500).default(''),
  /** The same seed plans the same calls. */
  seed: z.number().int().min(0).max(4_294_967_295).default(1),
  phases: z.array(phase).min(1),
  callers: z.array(caller).min(1),
  /** Calls that are planned while so many go on are not begun and counted as `held_back`. */
  mostAtOnce: z.number().int().positive().max(20_000).default(2_000),
  /** Counted from here on; what comes before warms up. */
  warmUpSeconds: seconds.default(0),
  /** Calls that fail by themselves (not by a `--fail-if`) make exit code 1; false where a scenario expects them. */
  mayFail: z.boolean().default(false),
  /** Searches the greatest load that is carried well, by bisection, instead of running the phases once. */
  knee: z
    .strictObject({
      /** What is raised: calls at once, or new ones a second. */
      of: z.enum(['calls', 'perSecond']).default('calls'),
      from: z.number().positive(),
      to: z.number().positive(),
      /** Each step lasts so long. */
      stepSeconds: z.number().min(5).max(3_600).default(20),
      /** A step is carried well where none of these is true; as for `--fail-if`. */
      unless: z.array(z.string()).min(1).default(['gaps.perCallMinute>1', 'errors.share>0.01']),
      /** The answer is repeated so often around the knee, for its confidence. */
      repetitions: z.number().int().min(1).max(20).default(3),
    })
    .optional(),
  /** At these seconds of the run the operator's command (`--restart-command`) is run once: a deployment under load. */
  restartsAtSeconds: z.array(seconds).default([]),
});

export type Workload = z.output<typeof workloadSchema>;
export type WorkloadInput = z.input<typeof workloadSchema>;
export type WorkloadPhase = Workload['phases'][number];
export type WorkloadCaller = Workload['callers'][number];
export type Talk = WorkloadCaller['talk'];
export type Network = WorkloadCaller['network'];

/**
 * Which of an agent's labels fits a call: votes of what the script understood, of how it ended and of the caller's
 * words. Pure. The weights were set on scripts like the demo's; a vote of the script counts most, because its
 * recogniser chose among known phrases.
 */
import type { Turn } from '../../../media/contract/conversation.ts';
import { OTHER_INTENT } from '../../calls/findings.ts';
import type { CallStory } from '../call-story.ts';
import { areSameLabel, CONCEPTS, conceptsOfLabel, spokenWords } from './cues.ts';

export interface IntentFound {
  intent: string;
  /** 0 to 1, two decimals: a rank of how clear it was, not a calibrated chance. */
  confidence: number;
  /** The caller's turns that say so, the most telling first. */
  turns: Turn[];
}

/** Said by the far end's own phrase in answer to a question. */
const BY_REPLY = 3;
const BY_DISPOSITION = 2.5;
const BY_ENDED_REASON = 6;
const BY_WORDS = 1.5;
const BY_STEP = 1;
const BY_AGENT_WORDS = 1;
const AGAINST = -2;
const LEAST_WEIGHT = 1;

const REASON_CONCEPTS: Readonly<Record<string, string>> = {
  voicemail_detected: 'voicemail',
  voicemail_left: 'voicemail',
  ivr_reached: 'voicemail',
  opt_out_requested: 'do_not_call',
};

export function findIntent(story: CallStory): IntentFound {
  const votes = new Votes(story.labels.filter((label) => label !== OTHER_INTENT));
  votes.forConcept(REASON_CONCEPTS[story.endedReason] ?? '', BY_ENDED_REASON, null);
  if (story.disposition !== null) votes.forLabelLike(story.disposition, BY_DISPOSITION, null);
  let led = false;
  for (const turn of story.turns) {
    if (turn.role === 'agent') {
      // Only a step that the caller's answer led to: the first question is asked in every call.
      if (led && turn.stepId !== undefined) votes.forLabelLike(turn.stepId, BY_STEP, null);
      voteByAgentWords(votes, turn);
      led = false;
      continue;
    }
    if (turn.kind === 'backchannel') continue;
    led = turn.intent !== undefined;
    if (turn.intent !== undefined) votes.forLabelLike(turn.intent, BY_REPLY, turn);
    voteByWords(votes, turn);
  }
  return votes.result();
}

function voteByWords(votes: Votes, turn: Turn): void {
  const words = spokenWords(turn.heardText);
  for (const concept of CONCEPTS) if (concept.words?.test(words)) votes.forConcept(concept.name, BY_WORDS, turn);
}

function voteByAgentWords(votes: Votes, turn: Turn): void {
  for (const sentence of turn.heardText.match(/[^.!?]+[.!?]?/g) ?? []) {
    if (sentence.endsWith('?')) continue;
    const words = spokenWords(sentence);
    for (const concept of CONCEPTS) {
      if (concept.agentWords?.test(words)) votes.forConcept(concept.name, BY_AGENT_WORDS, null);
    }
  }
}

interface Tally {
  label: string;
  concepts: ReadonlySet<string>;
  /** By what spoke for it: the same thing said five times is no stronger. */
  weights: Map<string, number>;
  turns: { turn: Turn; weight: number }[];
}

class Votes {
  readonly #tallies: Tally[];

  constructor(labels: readonly string[]) {
    this.#tallies = labels.map((label) => ({
      label,
      concepts: new Set(conceptsOfLabel(label).map((concept) => concept.name)),
      weights: new Map(),
      turns: [],
    }));
  }

  /** For the label that is called so, else for those that stand for what it stands for. */
  forLabelLike(name: string, weight: number, turn: Turn | null): void {
    const same = this.#tallies.filter((tally) => areSameLabel(tally.label, name));
    for (const tally of same) add(tally, `label ${weight}`, weight, turn);
    const concepts = conceptsOfLabel(name);
    for (const concept of concepts) {
      if (same.length === 0) this.forConcept(concept.name, weight / 2, turn);
      else this.#speakAgainst(concept.name);
    }
  }

  forConcept(name: string, weight: number, turn: Turn | null): void {
    for (const tally of this.#tallies) {
      if (tally.concepts.has(name)) add(tally, `${name} ${weight}`, weight, turn);
    }
    if (turn !== null) this.#speakAgainst(name);
  }

  result(): IntentFound {
    const ranked = this.#tallies
      .map((tally) => ({ ...tally, weight: [...tally.weights.values()].reduce((sum, weight) => sum + weight, 0) }))
      .toSorted((a, b) => b.weight - a.weight);
    const [first, second] = ranked;
    if (first === undefined || first.weight < LEAST_WEIGHT) return { intent: OTHER_INTENT, confidence: 0.3, turns: [] };
    const share = first.weight / (first.weight + Math.max(0, second?.weight ?? 0) / 2);
    const confidence = Math.min(0.97, 0.4 + 0.1 * first.weight) * share;
    const turns = first.turns.toSorted((a, b) => b.weight - a.weight).map(({ turn }) => turn);
    return { intent: first.label, confidence: Math.round(confidence * 100) / 100, turns: [...new Set(turns)] };
  }

  #speakAgainst(name: string): void {
    const against = CONCEPTS.find((concept) => concept.name === name)?.against ?? [];
    for (const tally of this.#tallies) {
      if (against.some((other) => tally.concepts.has(other)) && !tally.concepts.has(name)) {
        tally.weights.set(`against ${name}`, AGAINST);
      }
    }
  }
}

function add(tally: Tally, why: string, weight: number, turn: Turn | null): void {
  tally.weights.set(why, weight);
  if (turn !== null) tally.turns.push({ turn, weight });
}

/**
 * Did the call do what it was for? By the agent's own list where it has one (a model does not overrule it), else by
 * what labels usually mean and by how the call ended. Pure.
 */

import type { Findings } from '../../calls/findings.ts';
import type { CallStory } from '../call-story.ts';
import { areSameLabel, conceptsOfLabel } from './cues.ts';

type Judgement = Pick<Findings, 'successful' | 'successReason'>;

export function judgeSuccess(story: CallStory, intent: string): Judgement {
  const yes = (successReason: string): Judgement => ({ successful: true, successReason });
  const no = (successReason: string): Judgement => ({ successful: false, successReason });
  const { settings, disposition, endedReason, status } = story;
  const outcomes = [intent, ...(disposition === null ? [] : [disposition])];
  if (settings.successIntents !== undefined) {
    const wanted = settings.successIntents;
    const hit = outcomes.find((outcome) => wanted.some((label) => areSameLabel(label, outcome)));
    return hit === undefined
      ? no(`'${outcomes.join(`', '`)}' is none of the agent's success intents`)
      : yes(`'${hit}' is one of the agent's success intents`);
  }
  if (!story.turns.some((turn) => turn.role === 'user' && turn.kind === 'speech'))
    return no('The caller said nothing that was understood');
  const verdicts = outcomes.map((outcome) => ({ outcome, success: conceptsOfLabel(outcome)[0]?.success ?? null }));
  const against = verdicts.find((verdict) => verdict.success === false);
  if (against !== undefined) return no(`The call came out as '${against.outcome}'`);
  if (status !== 'completed') return no(`The call broke off: ${endedReason}`);
  if (endedReason === 'inactivity' || endedReason === 'max_duration_reached')
    return no(`The call ended by ${endedReason}`);
  const speaksFor = verdicts.find((verdict) => verdict.success === true);
  if (speaksFor !== undefined) return yes(`The call came out as '${speaksFor.outcome}'`);
  if (disposition !== null) return yes(`The script came to its end '${disposition}'`);
  return { successful: null, successReason: null };
}

/** A call in one to four sentences, made of what was said and noted, nothing guessed. Pure. */
import type { Turn } from '../../../media/contract/conversation.ts';
import { plainLine, shortSummary } from '../../calls/findings.ts';
import type { CallStory } from '../call-story.ts';
import { unclearClause } from '../unclear-sentence.ts';

const LONGEST_QUOTE = 120;
const MOST_NOTES = 5;
const MOST_OTHER_WORDS = 2;

/** `telling`: the caller's turns that say what it was about, the most telling first. */
export function summarise(story: CallStory, telling: readonly Turn[]): string {
  const spoken = story.turns.filter(
    (turn) => turn.role === 'user' && turn.kind !== 'backchannel' && turn.unclear === undefined,
  );
  const key = telling[0] ?? spoken.find((turn) => turn.intent !== undefined) ?? spoken[0];
  const sentences = [opening(story, spoken.length > 0)];
  if (key !== undefined) sentences.push(keyExchange(story, key));
  const others = spoken.filter((turn) => turn !== key && (turn.intent !== undefined || turn.kind === 'unclear'));
  const unclear = unclearClause(story);
  const more = [...(others.length > 0 ? [otherWords(others)] : []), ...(unclear === null ? [] : [unclear])];
  if (more.length > 0) sentences.push(`${capital(more.join('; '))}.`);
  sentences.push(ending(story));
  return shortSummary(sentences.join(' '));
}

function opening(story: CallStory, hasSpoken: boolean): string {
  const { agentName, talkSeconds } = story;
  const agent = plainLine(agentName, LONGEST_QUOTE);
  const who = otherSide(story);
  const time = talkSeconds === null ? '' : ` for ${duration(talkSeconds)}`;
  const silence = hasSpoken ? '' : ', and nothing that was understood was said';
  if (story.channel === 'web') return `${capital(who)} talked to ${agent} on the website${time}${silence}.`;
  if (story.direction === 'inbound') return `${capital(who)} called ${agent} and stayed on the line${time}${silence}.`;
  return `${agent} called ${who}, who stayed on the line${time}${silence}.`;
}

function otherSide({ name, channel }: CallStory): string {
  const known = plainLine(name, LONGEST_QUOTE);
  if (known !== '' && known !== 'Customer') return known;
  return channel === 'web' ? 'a visitor' : 'the customer';
}

function keyExchange(story: CallStory, key: Turn): string {
  const before = story.turns.slice(0, story.turns.indexOf(key)).findLast((turn) => turn.role === 'agent');
  const question = before === undefined ? undefined : /[^.!?]*\?(?=[^?]*$)/.exec(before.heardText)?.[0];
  const said = quoted(key.heardText);
  if (question === undefined || question.trim() === '?') return `The caller said ${said}.`;
  return `Asked ${quoted(question)}, the caller said ${said}.`;
}

function otherWords(turns: readonly Turn[]): string {
  const shown = turns.slice(0, MOST_OTHER_WORDS).map((turn) => quoted(turn.heardText));
  const more = turns.length > shown.length ? ', among other things' : '';
  return `the caller also said ${shown.join(' and ')}${more}`;
}

const ENDS: Readonly<Record<string, string>> = {
  user_hangup: 'the caller hung up',
  agent_hangup: 'the agent ended the call',
  inactivity: 'the agent ended the call after a long silence',
  max_duration_reached: 'the call reached its longest time',
  voicemail_detected: 'a machine had answered',
  voicemail_left: 'a message was left on a machine',
  ivr_reached: 'a menu of a machine had answered',
  opt_out_requested: 'the caller does not want to be called again',
  api_hangup: 'the call was ended through the API',
  operator_hangup: 'an operator ended the call',
  call_transferred: 'the call was transferred',
  stt_error: 'the call ended because speech could not be recognised any more',
  llm_error: 'the call ended because no language model answered',
  tts_error: 'the call ended because the agent lost its voice',
};

function ending(story: CallStory): string {
  const notes = Object.entries(story.variables)
    .filter(([, value]) => value !== '')
    .slice(0, MOST_NOTES)
    .map(([name, value]) => `${name} ${plainLine(value, LONGEST_QUOTE)}`);
  const end = ENDS[story.endedReason] ?? `the call broke off (${story.endedReason})`;
  const outcome = story.disposition === null ? '' : ` as “${plainLine(story.disposition, LONGEST_QUOTE)}”`;
  return notes.length === 0 ? `${capital(end)}${outcome}.` : `Noted: ${notes.join(', ')}; ${end}${outcome}.`;
}

function quoted(text: string): string {
  return `“${plainLine(text, LONGEST_QUOTE).replace(/[.]$/, '')}”`;
}

function duration(seconds: number): string {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} seconds`;
  return `${Math.round(seconds / 60)} minutes`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/**
 * What an agent that converses has just asked for, read from its own last sentence: how patient it is depends on that.
 * Pure.
 */
import type { Expectation } from '../../contract/agent-definition.ts';

const SPELLING = /\b(spell|spelling|letter by letter|buchstabier|épeler|épelez|deletre)/i;
const EMAIL = /\b(e-?mail|mail address|mailadresse|adresse mail|correo)\b/i;
const NUMBER =
  /\b(number|digits?|code|pin|zip|postcode|date of birth|birthday|account|nummer|ziffern|geburtsdatum|postleitzahl|numéro|chiffres|código|número)\b/i;
const ASKS_FOR =
  /\b(what|which|tell|give|say|read|have|need|enter|wie|welche|nennen|sagen|quel|quelle|donne[rz]?|cuál|dime|diga)\b/i;
const YES_NO =
  /^(is|are|was|were|do|does|did|can|could|would|will|shall|should|have|has|may|right|correct|okay|ist|sind|haben|hat|können|kann|möchten|wollen|soll|passt|stimmt|est-ce|voulez|puis|pouvez|es|está|puede|quiere|tiene)\b/i;

export function expectationAfter(said: string): Expectation {
  const question = /([^.!?。！？]*)[?？]["')\]]*\s*$/u.exec(said)?.[1]?.trim();
  const last = question ?? /([^.!?]*)[.!?]*\s*$/.exec(said)?.[1]?.trim() ?? '';
  const asks = question !== undefined || /\bplease\b|\bbitte\b/i.test(last);
  if (!asks) return 'open';
  if (SPELLING.test(last) || EMAIL.test(last)) return 'spelling';
  const bare = last.replace(/^(so|and|okay|alright|then|well|und|also|et|y)[, ]+/i, '');
  if (YES_NO.test(bare) && !/\bor\b|\boder\b|\bou\b|\btell\b|\bgive\b/i.test(bare)) return 'yesno';
  return NUMBER.test(last) && ASKS_FOR.test(last) ? 'digits' : 'open';
}

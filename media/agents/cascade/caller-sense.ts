/**
 * What the caller's words mean to an agent that converses: any words that are no assent are meant for it. While it
 * speaks they interrupt; while it is silent they end the turn soon only where they look whole. Pure.
 */
import type { SaidWords, WordSense } from '../../contract/agent.ts';

/**
 * Or nothing yet: who hesitates is waited for, and has not said anything. `(?=(…))\1` takes each word once and for all,
 * the longer before the shorter: else a long "mmm" that something follows is tried in more ways than there is time for.
 */
const ASSENT =
  /^(?:(?=(uh huh|mm+ ?hm+|mhm+|h?m+|huh|okay|ok|right|exactly|i see|yeah|yep|yes|sure|alright|all right|got it|understood|of course|go on|great|good|fine|ja|jo|genau|aha(?!h)|ah|ach so|achso|ach ja|alles klar|klar|na klar|gut|stimmt|richtig|verstehe|verstanden|sicher|natürlich|prima|super|passt|in ordnung|u+h+|u+m+|e+r+m*|äh+m*|oui|d'accord|sí|si|vale|claro))\1 ?)+$/;
/** Sounds that a cough makes too: they answer nothing. */
const MURMUR = /^(?:(?=(uh huh|mm+ ?hm+|mhm+|h?m+|huh|aha(?!h)|ah|u+h+|u+m+|e+r+m*|äh+m*))\1 ?)+$/;
const HOLD =
  /^(?:(?:please|just|oh|um|uh) )*(?:wait|hold on|hang on|one moment|one second|one sec|just a moment|just a second|wait a moment|wait a second|give me a (?:moment|second|minute)|moment|moment bitte|einen moment(?: bitte)?|un momento|un instant|attendez|(?:einen )?(?:moment|augenblick|sekunde)(?: mal)?(?: bitte)?|(?:warte|warten sie)(?: mal)?(?: bitte)?)(?: please)?$/;
const GOODBYE =
  /\b(?:bye|goodbye|good bye|see you|take care|have a (?:good|nice|great) (?:day|one|evening|night|weekend)|tschüss|tschüs|wiederhören|wiedersehen|adiós|au revoir|hasta luego)\b/;
const THANKS =
  /^(?:(?:thank you|thanks|thank you very much|many thanks|you too|same to you|danke|vielen dank|gracias|merci|okay|ok|great|alright|yes|no) ?)+$/;
/** Whoever ends so has more to say. */
const UNFINISHED =
  /(?:^|\s)(?:and|or|but|because|so|if|when|that|which|who|the|a|an|my|your|our|his|her|their|to|of|for|with|from|in|on|at|by|about|is|are|was|i|i'm|it's|we|you|not|very|um+|uh+|er+|hmm+|like|then|than|as|und|oder|aber|weil|dass|wenn|der|die|das|ein|eine|mein|ich|zu|mit|für|von|äh+m*|et|ou|mais|le|la|un|une|de|du|à|pour|que|y|o|pero|el|los|para|con)$/;
/** About a second and a half. */
const MOST_WORDS_SINCE = 5;
const WHOLE_END = /[.!?。！？]$/u;
/** A recogniser that writes sentences as people do; "I" is written so by all. */
const SETS_SIGNS = /[.,?!]|^(?!I\b)\p{Lu}/u;
const OPEN_END = /(?:[,;:–—-]|\.\.\.|…)$/u;

/** `isSpeaking`: the agent is. */
export function senseOf({ text, rejected, how, isOver = false, into = '' }: SaidWords, isSpeaking: boolean): WordSense {
  if (rejected) return 'rejected';
  const key = keyOf(text);
  if (key === '') return 'nothing';
  if (how !== 'spoken') return 'answer';
  if (HOLD.test(key)) return 'hold';
  if (isSpeaking) return ASSENT.test(key) && (MURMUR.test(key) || !hasJustAsked(into)) ? 'acknowledge' : 'answer';
  return isOver || looksWhole(text) ? 'answer' : 'other';
}

export function isGoodbye(text: string): boolean {
  const key = keyOf(text);
  const words = key.split(' ').length;
  return (words <= 10 && GOODBYE.test(key)) || THANKS.test(key) || ASSENT.test(key);
}

/** Who says yes so soon after a question answers it, although the agent has gone on. */
function hasJustAsked(said: string): boolean {
  const [, since] = /[?？]["'”’)\]]*([^?？]*)$/u.exec(said) ?? [];
  return since !== undefined && (since.match(/\S+/g) ?? []).length <= MOST_WORDS_SINCE;
}

/** By its last word, and by the signs that some recognisers set. */
function looksWhole(text: string): boolean {
  const trimmed = text.trim();
  if (OPEN_END.test(trimmed) || UNFINISHED.test(keyOf(trimmed))) return false;
  // Those that set any set one at the end of a sentence.
  return WHOLE_END.test(trimmed) || !SETS_SIGNS.test(trimmed);
}

function keyOf(text: string): string {
  return (text.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? []).join(' ');
}

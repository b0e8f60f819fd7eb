/**
 * What people say when they mean something, and how labels of intents are usually called: the small lexicon of the
 * local heuristic (English, as the local engines are). A concept joins both, so that "stop calling me" finds the label
 * that an agent gave it.
 */

export interface Concept {
  name: string;
  /** Labels, dispositions and reply intents that stand for it; `_` and `-` count as blanks. */
  label: RegExp;
  /** In what the caller says; null: words alone never say it. */
  words: RegExp | null;
  /** In what the agent says as a fact, not as a question. */
  agentWords?: RegExp;
  /** A call with it has, or has not, done what it was for; null: neither. */
  success: boolean | null;
  /** Concepts that it speaks against. */
  against?: readonly string[];
}

/** Earlier ones are more telling than later ones where both are named by one label. */
export const CONCEPTS: readonly Concept[] = [
  {
    name: 'wrong_number',
    label: /\bwrong (number|person|party)\b|\bnot (the )?(right )?(person|customer)\b/,
    words:
      /\bwrong (number|person)\b|\bno one (here )?(by|with) that name\b|\bnobody (here )?(by|with) that name\b|\b(does not|doesn't) live here\b|\bdon't know (him|her|them|that person)\b/,
    success: false,
    against: ['affirm', 'booking'],
  },
  {
    name: 'do_not_call',
    label: /\b(do not|dont|don't|never) (call|contact)\b|\bopt(ed)? out\b|\bunsubscribe|\bremove me\b|\bdnc\b/,
    words:
      /\b(stop|quit) (calling|phoning|ringing)\b|\b(do not|don't|never) (ever )?(call|phone|ring) (me|us|here|this|again)\b|\b(take|remove) (me|us|my number|this number) (off|from)\b|\bunsubscribe\b|\bopt (me )?out\b/,
    success: false,
    against: ['affirm', 'booking', 'callback'],
  },
  {
    name: 'voicemail',
    label: /\bvoice ?mail\b|\banswering machine\b|\bmachine\b|\bmailbox\b/,
    words:
      /\b(leave|record) (a|your) (message|name)\b|\bafter the (tone|beep)\b|\bvoice ?mail\b|\bmailbox\b|\b(is|am|are) (not available|unavailable) (right now|at the moment|to take)\b/,
    success: false,
    against: ['affirm', 'booking'],
  },
  {
    name: 'not_interested',
    label: /\bnot interested\b|\bdeclin|\breject|\brefus|\buninterested\b|\bno interest\b|\bno sale\b/,
    words:
      /\b(not|isn't|aren't|ain't) (really |at all )?interested\b|\bno interest\b|\b(do not|don't) (want|need) (it|any|this|that|one|your)\b|\bno thanks?,? (i|we)\b|\bi('ll| will) pass\b/,
    success: false,
    against: ['affirm', 'booking'],
  },
  {
    name: 'callback',
    label: /\bcall ?back|\bcall (me |us )?(back|later)\b|\bfollow ?up\b/,
    words:
      /\bcall (me|us)? ?(back|later|again (later|tomorrow))\b|\b(bad|not a good) (time|moment)\b|\b(busy|driving|in a meeting|at work) (right now|at the moment|now)\b|\btry (me )?(again )?later\b/,
    agentWords: /\b(call|ring|phone) you (back|again)\b|\bcolleague (to|will) call\b/,
    success: null,
  },
  {
    name: 'reschedule',
    label:
      /\bre ?schedul|\bre ?book|\bpostpon|\bmove(d)?\b|\bchange (of |the )?(date|time|day|appointment)\b|\bnew (date|time|day)\b/,
    words:
      /\b(another|different|other|later|new) (day|time|date)\b|\bre-?schedule\b|\bpostpone\b|\b(move|change) (it|that|my|the)\b/,
    agentWords: /\bmoved you to\b|\bre-?(scheduled|booked)\b|\bchanged (it|your appointment) to\b/,
    success: true,
    against: ['affirm'],
  },
  {
    name: 'cannot',
    label: /\b(can ?not|cant|can't|unable) (come|attend|make|go)\b/,
    words: /\b(can ?not|can't|unable to) (come|make it|attend|be there)\b|\bwon't be able\b/,
    success: null,
    against: ['affirm'],
  },
  {
    name: 'cancel',
    label: /\bcancel/,
    words: /\bcancel (it|that|my|the|this)\b|\b(want|like|need) to cancel\b/,
    success: null,
    against: ['affirm', 'booking'],
  },
  {
    name: 'complaint',
    label: /\bcomplain|\bunhappy\b|\bescalat/,
    words: /\bcomplain|\bspeak (to|with) (a|your|the) (manager|supervisor)\b|\bunacceptable\b|\bridiculous\b/,
    success: null,
  },
  {
    name: 'booking',
    label:
      /\bbook|\bappointment (made|set)\b|\bschedul|\breserv|\border(ed)?\b|\bpurchas|\bsale\b|\bsold\b|\bsign(ed)? up\b/,
    words:
      /\b(book|schedule|make|set up|reserve) (me )?(an? |the |that )?(appointment|meeting|visit|table|slot|room|time)\b|\bi('d| would) like to (book|order|schedule|reserve|buy)\b|\bsign me up\b/,
    agentWords:
      /\b(you are|you're|i have you|i've) (booked|scheduled|down for)\b|\byour (appointment|booking|order) is (confirmed|booked|placed)\b/,
    success: true,
  },
  {
    name: 'affirm',
    label: /\bconfirm|\baccept|\bagree|\bapprov|^interested\b|\byes\b|\bpositive\b|\bsuccess/,
    words:
      /^(yes|yeah|yep|sure|of course|absolutely|definitely|correct|that's right|okay|ok|fine)\b|\b(that|it) works\b|\bsounds good\b|\bi('ll| will) be there\b|\bi can (come|make it)\b/,
    success: true,
  },
  {
    name: 'deny',
    label: /^(no|nope|denied|negative)\b/,
    words: /^(no|nope|nah|not really)\b/,
    success: null,
  },
];

/** Lower case, with blanks for what stands between the words of a label. */
export function labelWords(label: string): string {
  return label
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replace(/[\s_\-./]+/g, ' ')
    .trim();
}

export function spokenWords(text: string): string {
  return text
    .toLowerCase()
    .replace(/[’‘`]/g, "'")
    .replace(/[^\p{L}\p{N}' -]+/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}

/** The concepts that a label stands for. */
export function conceptsOfLabel(label: string): Concept[] {
  const words = labelWords(label);
  return CONCEPTS.filter((concept) => concept.label.test(words));
}

/** `rescheduled`, `reschedule` and `rescheduling` are one. */
export function stemsOf(label: string): string[] {
  return labelWords(label)
    .split(' ')
    .filter((word) => word !== '')
    .map((word) => (word.length <= 4 ? word : word.replace(/(ations?|ings?|ed|es|s|d|e)$/, '')));
}

export function areSameLabel(a: string, b: string): boolean {
  return stemsOf(a).join(' ') === stemsOf(b).join(' ');
}

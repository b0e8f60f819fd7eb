/**
 * What callers and agents say in the barge-in run, in two sets that share neither words to stop nor voices nor what the
 * agent says: one to set rules by, one to judge them by. Assent has few words; the sets share the commonest. Spoken by
 * `voices.ts`, told to the emulated recogniser as its vocabulary.
 */
export type SetName = 'tuning' | 'held-out';
export type Language = 'en' | 'de';

export interface Phrase {
  text: string;
  language: Language;
}

export interface Speaker {
  engine: 'flite' | 'espeak';
  voice: string;
  /** Of Flite: 1.1 is a tenth higher and faster. */
  pitch?: number;
}

export interface PhraseSet {
  /** What the agent says first, and what it answers the opening with; the question in each is `asks`. */
  agentSays: string;
  asks: string;
  /** What a caller opens with where the agent waits. */
  opening: string;
  sentences: readonly Phrase[];
  words: readonly Phrase[];
  /** To `asks`. */
  answers: readonly Phrase[];
  assent: readonly Phrase[];
  /** Said by others in the room. */
  babble: readonly string[];
  speakers: Readonly<Record<Language, readonly Speaker[]>>;
}

const en = (...texts: string[]): Phrase[] => texts.map((text) => ({ text, language: 'en' }));
const de = (...texts: string[]): Phrase[] => texts.map((text) => ({ text, language: 'de' }));

export const SETS: Readonly<Record<SetName, PhraseSet>> = {
  tuning: {
    agentSays:
      "Hello, this is Mia from Tony's. Is this a good time for you? I am calling about your table on friday evening, which we would like to move to the garden, because the big room is taken by a party. The garden is warm and quiet, with a heater beside each table.",
    asks: 'Is this a good time for you?',
    opening: 'what do you want to tell me',
    sentences: [
      ...en(
        'no i would like to cancel the table',
        'can you tell me the price first',
        'i never booked a table there',
        'please call me back tomorrow',
        'actually we are four people now',
        'i want to speak to somebody else',
        'okay but what about the parking',
      ),
      ...de('ich habe einen tisch', 'nein danke das ist falsch'),
      ...en('ja but what does it cost'),
    ],
    words: [...en('stop', 'wait', 'no', 'hold on', 'sorry'), ...de('nein', 'moment', 'halt')],
    answers: [...en('yes', 'no not now', 'yes please', 'sure'), ...de('ja', 'nein')],
    assent: [...en('uh huh', 'okay', 'right', 'yeah', 'i see'), ...de('ja', 'genau', 'ja genau', 'gut', 'alles klar')],
    babble: [
      'the train to the city leaves every hour in the morning',
      'he said that she had never seen the house before',
      'there were many people at the market last summer',
    ],
    speakers: {
      en: [
        { engine: 'flite', voice: 'rms' },
        { engine: 'flite', voice: 'kal16' },
        { engine: 'flite', voice: 'rms', pitch: 1.1 },
      ],
      de: [
        { engine: 'espeak', voice: 'de+m3' },
        { engine: 'flite', voice: 'rms', pitch: 1.05 },
        { engine: 'flite', voice: 'kal16' },
      ],
    },
  },
  'held-out': {
    agentSays:
      'Good morning, this is Leo from the city library. Do you still have the book about sailing? It was due on monday, and another reader is waiting for it. You can bring it to the front desk, or leave it in the box beside the door, which is open day and night.',
    asks: 'Do you still have the book about sailing?',
    opening: 'hello who is speaking please',
    sentences: [
      ...en(
        'i returned it last week',
        'what are your opening hours',
        'my brother has the book now',
        'let me ask my wife about that',
        'could you send me a letter instead',
        'that is not my name at all',
        'right but i live far away',
        'you have the wrong number',
      ),
      ...de('ich kann morgen nicht', 'das stimmt nicht', 'ich habe eine frage'),
      ...en('ja genau but i need another week', 'nein i gave it back'),
    ],
    words: [
      ...en('excuse me', 'hang on', 'wait a moment', 'hello', 'listen', 'stop it'),
      ...de('moment mal', 'stopp', 'warten sie', 'aber'),
    ],
    answers: [...en('yes i do', 'no i do not', 'of course', 'yes', 'yeah'), ...de('ja', 'nein')],
    assent: [
      ...en('uh huh', 'okay', 'right', 'alright', 'got it', 'yeah okay'),
      ...de('ja', 'genau', 'ja ja', 'stimmt', 'verstehe', 'ja gut', 'richtig', 'ach so'),
    ],
    babble: [
      'we have been waiting here since the early afternoon',
      'put the large boxes into the garage behind the garden',
      'nobody told them about the meeting on thursday',
      'she always drinks her coffee without any sugar',
    ],
    speakers: {
      en: [
        { engine: 'flite', voice: 'awb' },
        { engine: 'flite', voice: 'slt' },
        { engine: 'flite', voice: 'awb', pitch: 0.93 },
        { engine: 'flite', voice: 'slt', pitch: 0.94 },
      ],
      de: [
        { engine: 'espeak', voice: 'de+m1' },
        { engine: 'flite', voice: 'awb' },
        { engine: 'flite', voice: 'slt' },
      ],
    },
  },
};

/** All that callers may say. */
export function vocabularyOf(set: SetName): string[] {
  const { opening, sentences, words, answers, assent } = SETS[set];
  return [...new Set([opening, ...[...sentences, ...words, ...answers, ...assent].map(({ text }) => text)])];
}

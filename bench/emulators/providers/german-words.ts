/**
 * German words that callers say into an English conversation, spelled in the sounds of the decoder's English model, for
 * the emulated recognisers. What English lacks is its nearest neighbour: `ch` as in “ich” is SH, as in “ach” HH, `ü` is
 * UW, a final `r` is a vowel. Called by the recogniser's thread.
 */
import type { Lexicon } from '../../../media/engines/local/lexicon.ts';

const GERMAN: Readonly<Record<string, readonly string[]>> = {
  aber: ['AA B AH', 'AA B ER'],
  ach: ['AA HH', 'AA K'],
  alles: ['AA L EH S', 'AA L AH S'],
  anders: ['AA N D ER S', 'AA N D AH S'],
  auf: ['AW F'],
  bitte: ['B IH T AH', 'B IH T EH'],
  danke: ['D AA NG K AH', 'D AA NG K EH'],
  das: ['D AA S'],
  eine: ['AY N AH', 'AY N EH'],
  einen: ['AY N AH N', 'AY N EH N'],
  falsch: ['F AA L SH'],
  frage: ['F R AA G AH', 'F R AA G EH'],
  genau: ['G AH N AW', 'G EH N AW', 'G AH N OW'],
  gut: ['G UW T'],
  habe: ['HH AA B AH', 'HH AA B EH'],
  halt: ['HH AA L T'],
  ich: ['IH SH', 'IH K'],
  ist: ['IH S T'],
  ja: ['Y AA'],
  kann: ['K AA N'],
  klar: ['K L AA', 'K L AA R'],
  mal: ['M AA L'],
  moment: ['M OW M EH N T'],
  morgen: ['M AO R G AH N', 'M AO G AH N'],
  nein: ['N AY N'],
  nicht: ['N IH SH T', 'N IH K T'],
  richtig: ['R IH SH T IH SH', 'R IH SH T IH K'],
  sie: ['Z IY'],
  so: ['Z OW'],
  stimmt: ['SH T IH M T'],
  stopp: ['SH T AO P', 'SH T AA P'],
  tisch: ['T IH SH'],
  verstehe: ['F ER SH T EY AH', 'F EH R SH T EY AH'],
  warten: ['V AA R T AH N', 'V AA T AH N'],
  will: ['V IH L'],
};

/** English pronunciations first: a word of both languages is heard in either. */
export function withGermanWords(lexicon: Lexicon): Lexicon {
  return {
    pronunciationsOf: (word) => [
      ...lexicon.pronunciationsOf(word),
      ...(Object.hasOwn(GERMAN, word) ? GERMAN[word]! : []),
    ],
  };
}

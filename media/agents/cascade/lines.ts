/** What the agent says in fixed words, by language: it must speak where its model does not. One list a language. */
import type { CascadeAgent } from '../../contract/agent-definition.ts';

export interface FixedLines {
  /** Into silence, while an answer is thought of. */
  fillers: readonly string[];
  /** The caller was not understood. */
  unclear: readonly string[];
  /** A model has refused to answer this, or has nothing to say. */
  nothing: string;
  /** No model answers. */
  apology: string;
  /** The call costs more than it may. */
  limit: string;
  farewell: string;
  idle: readonly string[];
}

const ENGLISH: FixedLines = {
  fillers: ['Let me see.', 'One moment.', 'Just a second.', 'Bear with me.'],
  unclear: [
    'Sorry, I did not catch that.',
    'Sorry, could you say that again?',
    'I could not hear that well, once more please?',
  ],
  nothing: 'Sorry, could you put that another way?',
  apology: 'I am sorry, I have a technical problem. Please call again later. Goodbye.',
  limit: 'I am sorry, I have to end our call here. Thank you, and goodbye.',
  farewell: 'Goodbye.',
  idle: ['Are you still there?'],
};

const BY_LANGUAGE: Readonly<Record<string, FixedLines>> = {
  en: ENGLISH,
  de: {
    fillers: ['Einen Moment.', 'Ich sehe nach.', 'Einen kleinen Augenblick.'],
    unclear: ['Das habe ich leider nicht verstanden.', 'Können Sie das bitte wiederholen?'],
    nothing: 'Können Sie das bitte anders sagen?',
    apology:
      'Es tut mir leid, ich habe ein technisches Problem. Bitte rufen Sie später noch einmal an. Auf Wiederhören.',
    limit: 'Es tut mir leid, ich muss das Gespräch hier beenden. Vielen Dank, auf Wiederhören.',
    farewell: 'Auf Wiederhören.',
    idle: ['Sind Sie noch da?'],
  },
  es: {
    fillers: ['Un momento.', 'Déjeme ver.', 'Un segundo.'],
    unclear: ['Perdón, no le he entendido.', '¿Puede repetirlo, por favor?'],
    nothing: '¿Puede decirlo de otra manera?',
    apology: 'Lo siento, tengo un problema técnico. Por favor, llame más tarde. Adiós.',
    limit: 'Lo siento, tengo que terminar la llamada. Muchas gracias, adiós.',
    farewell: 'Adiós.',
    idle: ['¿Sigue ahí?'],
  },
  fr: {
    fillers: ['Un instant.', 'Voyons.', 'Une seconde.'],
    unclear: ["Pardon, je n'ai pas compris.", 'Pouvez-vous répéter, s’il vous plaît ?'],
    nothing: 'Pouvez-vous le dire autrement ?',
    apology: "Je suis désolé, j'ai un problème technique. Veuillez rappeler plus tard. Au revoir.",
    limit: 'Je suis désolé, je dois terminer notre appel. Merci, au revoir.',
    farewell: 'Au revoir.',
    idle: ['Êtes-vous toujours là ?'],
  },
};

/** Its own lines where it has some. */
export function linesIn({ language, filler, idle, end }: CascadeAgent): FixedLines {
  const lines = linesOf(language);
  return {
    ...lines,
    fillers: filler?.say ?? lines.fillers,
    idle: idle?.say ?? lines.idle,
    farewell: end?.farewell ?? lines.farewell,
  };
}

/** Of a BCP 47 tag; English where there are none. */
function linesOf(language: string): FixedLines {
  return BY_LANGUAGE[language.split('-')[0]!.toLowerCase()] ?? ENGLISH;
}

/** When each word of the agent's text sounds, asked of the emulated voice itself: what a cut is compared with. */

export interface SpokenWord {
  text: string;
  /** Behind its last character, marks counted. */
  endChar: number;
  /** From the first sound of the text. */
  startMs: number;
  endMs: number;
}

interface Timed {
  alignment: {
    characters: string[];
    character_start_times_seconds: number[];
    character_end_times_seconds: number[];
  };
}

/** What a call leaves between sentences, whatever silence the voice has there (`speech-renderer.ts`). */
const SENTENCE_PAUSE_MS = 300;

/** Sentence by sentence, as the agent has them said. */
export async function spokenWords(of: {
  fetch: (url: string, init: RequestInit) => Promise<Response>;
  origin: string;
  voice: string;
  text: string;
  key: string;
}): Promise<SpokenWord[]> {
  const words: SpokenWord[] = [];
  let beginsAtMs = 0;
  for (const sentence of of.text.matchAll(/[^.?!]+[.?!]+\s*/g)) {
    const { alignment } = await spoken({ ...of, text: sentence[0].trim() });
    const startsMs = alignment.character_start_times_seconds.map((seconds) => 1_000 * seconds);
    const endsMs = alignment.character_end_times_seconds.map((seconds) => 1_000 * seconds);
    const shiftMs = beginsAtMs - startsMs[0]!;
    for (const word of alignment.characters.join('').matchAll(/\S+/g)) {
      const endChar = word.index + word[0].length;
      words.push({
        text: word[0],
        endChar: sentence.index + endChar,
        startMs: startsMs[word.index]! + shiftMs,
        endMs: endsMs[endChar - 1]! + shiftMs,
      });
    }
    beginsAtMs = words.at(-1)!.endMs + SENTENCE_PAUSE_MS;
  }
  return words;
}

async function spoken(of: Parameters<typeof spokenWords>[0]): Promise<Timed> {
  const answer = await of.fetch(`${of.origin}/v1/text-to-speech/${of.voice}/with-timestamps?output_format=ulaw_8000`, {
    method: 'POST',
    headers: { 'xi-api-key': of.key, 'content-type': 'application/json' },
    body: JSON.stringify({ text: of.text, model_id: 'eleven_flash_v2_5' }),
  });
  if (!answer.ok) throw new Error(`the emulated voice gave no times: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Timed;
}

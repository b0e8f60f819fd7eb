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

export async function spokenWords(of: {
  fetch: (url: string, init: RequestInit) => Promise<Response>;
  origin: string;
  voice: string;
  text: string;
  key: string;
}): Promise<SpokenWord[]> {
  const answer = await of.fetch(`${of.origin}/v1/text-to-speech/${of.voice}/with-timestamps?output_format=ulaw_8000`, {
    method: 'POST',
    headers: { 'xi-api-key': of.key, 'content-type': 'application/json' },
    body: JSON.stringify({ text: of.text, model_id: 'eleven_flash_v2_5' }),
  });
  if (!answer.ok) throw new Error(`the emulated voice gave no times: ${answer.status} ${await answer.text()}`);
  const { alignment } = (await answer.json()) as Timed;
  const text = alignment.characters.join('');
  const firstMs = 1_000 * (alignment.character_start_times_seconds[0] ?? 0);
  return [...text.matchAll(/\S+/g)].map((match) => ({
    text: match[0],
    endChar: match.index + match[0].length,
    startMs: 1_000 * alignment.character_start_times_seconds[match.index]! - firstMs,
    endMs: 1_000 * alignment.character_end_times_seconds[match.index + match[0].length - 1]! - firstMs,
  }));
}

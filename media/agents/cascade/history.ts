/**
 * What has been said and done in a call, as entries that are only ever added to, and the messages that a model is asked
 * with, made of them anew each time. Of the agent's own words only those that were heard count. What a death or an
 * interruption left open is repaired on the way out: each use of a tool has exactly one result, right behind it. Pure.
 */
import type { ModelMessage, ModelToolUse } from '../../contract/model.ts';

export type Entry =
  | { type: 'user'; text: string }
  /** `heard` grows while it is played; null: nothing is known of that yet. */
  | { type: 'assistant'; text: string; heard: string | null; isCut: boolean; uses: ModelToolUse[] }
  | { type: 'result'; useId: string; text: string }
  /** Told to the model, said by nobody. */
  | { type: 'note'; text: string }
  /** Of the entries that stood before. */
  | { type: 'summary'; text: string };

export type AssistantEntry = Extract<Entry, { type: 'assistant' }>;

export function assistantEntry(text = ''): AssistantEntry {
  return { type: 'assistant', text, heard: null, isCut: false, uses: [] };
}

/** Behind words that were cut off. */
export const CUT_MARK = '[cut off here; the rest was not heard]';
export const STILL_RUNNING = '{"status":"still running","hint":"its result comes later; do not use it again"}';
const LONGEST_USER_TEXT = 4_000;
const LONGEST_RESULT = 8_000;
/** Of what providers want to see again with uses of tools, together: it travels with every checkpoint. */
const MOST_MARK_CHARS = 64 * 1024;

export class History {
  readonly entries: Entry[] = [];
  /** Changes with each entry: what was thought of an older one is not the same question any more. */
  version = 0;

  /** Of a predecessor: before anything is added. */
  restore(entries: readonly Entry[]): void {
    this.entries.push(...(structuredClone(entries) as Entry[]));
    this.version++;
  }

  /** As soon as there is something in it, once; what was added before stays where it is. */
  remember(entry: AssistantEntry): void {
    if ((entry.text !== '' || entry.uses.length > 0) && !this.entries.includes(entry)) this.#add(entry);
  }

  user(text: string): void {
    this.#add({ type: 'user', text: text.slice(0, LONGEST_USER_TEXT) });
  }

  note(text: string): void {
    this.#add({ type: 'note', text });
  }

  assistant(text = ''): AssistantEntry {
    const entry = assistantEntry(text);
    this.#add(entry);
    return entry;
  }

  /** False: there is no such use, or it has its result. */
  result(useId: string, text: string): boolean {
    if (!this.openUses().some((use) => use.useId === useId)) return false;
    this.#add({ type: 'result', useId, text: text.slice(0, LONGEST_RESULT) });
    return true;
  }

  openUses(): ModelToolUse[] {
    const closed = new Set(this.entries.flatMap((entry) => (entry.type === 'result' ? [entry.useId] : [])));
    return this.entries
      .flatMap((entry) => (entry.type === 'assistant' ? entry.uses : []))
      .filter(({ useId }) => !closed.has(useId));
  }

  /** The oldest entries give way to a few words about them. */
  replaceOldest(count: number, summary: string | null): void {
    this.entries.splice(0, count, ...(summary === null ? [] : [{ type: 'summary' as const, text: summary }]));
    this.version++;
  }

  /** Four characters of a text are about one token. */
  get characters(): number {
    return this.entries.reduce((sum, entry) => sum + lengthOf(entry), 0);
  }

  /** `running`: uses that still have no result, and will have one. All others are repaired. */
  messages(system: string, running: ReadonlySet<string> = NONE): ModelMessage[] {
    return messagesOf(this.entries, system, running);
  }

  #add(entry: Entry): void {
    this.entries.push(entry);
    this.version++;
    this.#forgetOldMarks();
  }

  /** An engine does without them, and they matter most in the turn that is under way. */
  #forgetOldMarks(): void {
    let chars = 0;
    for (const entry of this.entries.toReversed()) {
      if (entry.type !== 'assistant') continue;
      for (const use of entry.uses) {
        chars += use.providerMark?.length ?? 0;
        if (chars > MOST_MARK_CHARS) delete use.providerMark;
      }
    }
  }
}

const NONE: ReadonlySet<string> = new Set();

export function messagesOf(entries: readonly Entry[], system: string, running = NONE): ModelMessage[] {
  const messages: ModelMessage[] = [{ role: 'system', text: system }];
  const results = new Map<string, string>();
  for (const entry of entries) {
    if (entry.type === 'result' && !results.has(entry.useId)) results.set(entry.useId, entry.text);
  }
  const used = new Set<string>();
  for (const entry of entries) {
    if (entry.type === 'assistant') {
      // A model may give one id twice: the second use would have no result of its own.
      const toolUses = entry.uses.filter(({ useId }) => !used.has(useId) && used.add(useId));
      const text = heardOf(entry);
      if (text === '' && toolUses.length === 0) continue;
      addAssistant(messages, text, toolUses);
      for (const { useId } of toolUses) {
        const text = results.get(useId) ?? (running.has(useId) ? STILL_RUNNING : '{"error":"interrupted"}');
        messages.push({ role: 'tool', useId, text });
      }
    } else if (entry.type !== 'result') addUser(messages, textOf(entry));
  }
  return messages;
}

/** What the model is to know that it has said. */
export function heardOf({ text, heard, isCut }: AssistantEntry): string {
  const known = (heard ?? text).trim();
  return isCut && known !== '' ? `${known} ${CUT_MARK}` : known;
}

function textOf(entry: Exclude<Entry, { type: 'assistant' | 'result' }>): string {
  if (entry.type === 'user') return entry.text;
  return entry.type === 'note' ? `[${entry.text}]` : `[Of the call so far: ${entry.text}]`;
}

/** Providers want user and assistant in turn. */
function addUser(messages: ModelMessage[], text: string): void {
  const last = messages.at(-1);
  if (last?.role === 'user') messages[messages.length - 1] = { role: 'user', text: `${last.text}\n${text}` };
  else messages.push({ role: 'user', text });
}

function addAssistant(messages: ModelMessage[], text: string, toolUses: readonly ModelToolUse[]): void {
  const last = messages.at(-1);
  const isMore = last?.role === 'assistant' && last.toolUses === undefined;
  const whole = isMore ? `${last.text} ${text}`.trim() : text;
  if (isMore) messages.pop();
  messages.push({ role: 'assistant', text: whole, ...(toolUses.length === 0 ? {} : { toolUses }) });
}

function lengthOf(entry: Entry): number {
  if (entry.type !== 'assistant') return entry.text.length;
  return entry.uses.reduce((sum, use) => sum + use.argumentsText.length + use.name.length, entry.text.length);
}

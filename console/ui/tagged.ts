/** A setting with the tag of its state: a change names the state that it changes, so that none is lost. */
import { ParleyError } from '../../clients/typescript/src/parley-error.ts';
import { settings as words } from '../texts/en/settings.ts';
import { type Loaded, useLoad } from './load.ts';

interface Tagged<Data> {
  data: Data;
  etag: string | null;
}

export interface Setting<Data> extends Loaded<Tagged<Data>> {
  /** `headers` holds If-Match. Somebody else's change meanwhile is read again, and told. */
  save(change: (headers: Record<string, string>) => Promise<unknown>): Promise<void>;
}

export function useSetting<Data>(
  read: (signal: AbortSignal) => Promise<Tagged<Data>>,
  inputs: readonly unknown[],
): Setting<Data> {
  const loaded = useLoad(read, inputs);
  async function save(change: (headers: Record<string, string>) => Promise<unknown>): Promise<void> {
    const etag = loaded.data?.etag ?? null;
    try {
      await change(etag === null ? {} : { 'if-match': etag });
    } catch (error) {
      if (error instanceof ParleyError && error.status === 412) {
        loaded.reload();
        throw new Error(words.changedMeanwhile);
      }
      throw error;
    }
    loaded.reload();
  }
  return { ...loaded, save };
}

/** One a line, or separated by commas. */
export const listOf = (text: string): string[] =>
  text
    .split(/[\n,]/)
    .map((one) => one.trim())
    .filter((one) => one !== '');

/**
 * A setting with the tag of its state: a change names the state that it changes, so that none is lost. Who comes second
 * sees what his change would do to what is there by now, and decides; what he typed stays until he has.
 */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { ParleyError } from '../../clients/typescript/src/parley-error.ts';
import { settings as words } from '../texts/en/settings.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Difference } from './difference.tsx';
import { type Loaded, useLoad } from './load.ts';

interface Tagged<Data> {
  data: Data;
  etag: string | null;
}

type Change = (headers: Record<string, string>) => Promise<unknown>;

interface Conflict<Data> {
  theirs: Tagged<Data>;
  mine: object;
  change: Change;
  settle(error: Error | null): void;
}

export interface Setting<Data> extends Loaded<Tagged<Data>> {
  /**
   * `headers` holds If-Match; `mine`: what the change would store. Resolves when it is stored, also on top of somebody
   * else's change; rejects when it is given up.
   */
  save(change: Change, mine: object): Promise<void>;
  /** The question after somebody else's change; to be put into the page. */
  conflict: ComponentChildren;
}

export function useSetting<Data extends object>(
  read: (signal: AbortSignal) => Promise<Tagged<Data>>,
  inputs: readonly unknown[],
): Setting<Data> {
  const loaded = useLoad(read, inputs);
  const [conflict, setConflict] = useState<Conflict<Data> | null>(null);

  async function save(change: Change, mine: object, etag = loaded.data?.etag ?? null): Promise<void> {
    try {
      await change(etag === null ? {} : { 'if-match': etag });
    } catch (error) {
      if (!(error instanceof ParleyError) || error.status !== 412) throw error;
      const theirs = await read(new AbortController().signal);
      await new Promise<void>((resolve, reject) => {
        const settle = (fault: Error | null): void => {
          setConflict(null);
          if (fault === null) resolve();
          else reject(fault);
        };
        setConflict({ theirs, mine, change, settle });
      });
    }
    loaded.reload();
  }

  async function keepMine({ theirs, mine, change, settle }: Conflict<Data>): Promise<void> {
    setConflict(null);
    // Somebody may have been quicker once more.
    await save(change, mine, theirs.etag).then(() => settle(null), settle);
  }

  return {
    ...loaded,
    save,
    conflict:
      conflict === null ? null : (
        <Dialog title={words.conflict} isWide onClose={() => conflict.settle(new Error(words.changedMeanwhile))}>
          <div class="stack">
            <p class="soft">{words.conflictHint}</p>
            <Difference
              before={asText(conflict.theirs.data, conflict.mine)}
              after={asText(conflict.mine)}
              label={words.conflict}
            />
            <div class="actions">
              <Button
                onPress={() => {
                  conflict.settle(new Error(words.changedMeanwhile));
                  loaded.reload();
                }}
              >
                {words.takeTheirs}
              </Button>
              <Button kind="main" onPress={() => keepMine(conflict)}>
                {words.keepMine}
              </Button>
            </div>
          </div>
        </Dialog>
      ),
  };
}

/** Fields in one order, and those alone that a change has. */
function asText(state: object, like: object = state): string {
  const names = Object.keys(like).toSorted();
  return JSON.stringify(
    Object.fromEntries(names.map((name) => [name, short(state[name as keyof typeof state])])),
    null,
    2,
  );
}

const LONGEST = 200;

/** A picture in letters tells nobody anything. */
function short(value: unknown): unknown {
  return typeof value === 'string' && value.length > LONGEST ? `${value.slice(0, LONGEST)}…` : value;
}

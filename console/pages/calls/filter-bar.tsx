/**
 * The sentence above the calls: words to search for, a time, and each filter with a way to change it and take it
 * away.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Agent } from '../../../clients/typescript/src/client.ts';
import { calls as words } from '../../texts/en/calls.ts';
import { go, replaceAddress, to } from '../../ui/address.ts';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icons.tsx';
import { FilterDialog } from './filter-dialog.tsx';
import { filtersIn, readsAs } from './filters.ts';

const TYPING_MS = 350;

export function FilterBar(props: { enterprise: string; query: URLSearchParams; agents: readonly Agent[] }) {
  const { enterprise, query, agents } = props;
  const [editing, setEditing] = useState<string | null>(null);
  const [typed, setTyped] = useState(query.get('q') ?? '');
  const timer = useRef(0);
  const here = (next: URLSearchParams): string => to(['w', enterprise, 'calls'], next);

  const inAddress = query.get('q') ?? '';
  const lastSent = useRef(inAddress);
  useEffect(() => {
    // A link or the history changed the words; not the typing here, which may be ahead by now.
    if (inAddress !== lastSent.current) setTyped(inAddress);
    lastSent.current = inAddress;
  }, [inAddress]);

  function search(text: string): void {
    setTyped(text);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      const next = new URLSearchParams(location.hash.split('?')[1] ?? '');
      if (text.trim() === '') next.delete('q');
      else next.set('q', text);
      lastSent.current = next.get('q') ?? '';
      replaceAddress(here(next));
    }, TYPING_MS) as unknown as number;
  }
  function set(name: string, value: string | null, before: string | null = null): void {
    const next = new URLSearchParams(query);
    if (before !== null && before !== name) next.delete(before);
    if (value === null) next.delete(name);
    else next.set(name, value);
    go(here(next));
  }
  /** From the midnight that many days ago, of the reader's zone; `until`: to that one. */
  function within(days: number, until: number | null = null): void {
    const next = new URLSearchParams(query);
    next.set('createdAfter', midnight(days));
    if (until !== null) next.set('createdBefore', midnight(until));
    go(here(next));
  }

  const filters = filtersIn(query);
  const isAny = filters.length > 0 || typed !== '';
  const hasTime = query.has('createdAfter') || query.has('createdBefore');
  return (
    <search class="filters">
      <div class="search">
        <Icon name="search" />
        <input
          type="search"
          aria-label={words.search}
          placeholder={words.search}
          value={typed}
          onInput={(event) => search(event.currentTarget.value)}
        />
      </div>
      {filters.map(([name, value]) => {
        const reads = readsAs(name, value, agents);
        return (
          <span key={name} class="chip">
            <button
              type="button"
              aria-label={`${words.change(reads.name)}: ${reads.value}`}
              onClick={() => setEditing(name)}
            >
              <span class="soft">{reads.name}</span>
              <strong>
                <bdi>{reads.value}</bdi>
              </strong>
            </button>
            <button type="button" aria-label={words.removeFilter(reads.name)} onClick={() => set(name, null)}>
              <Icon name="close" size={14} />
            </button>
          </span>
        );
      })}
      {hasTime ? null : (
        <>
          <Button kind="quiet" onPress={() => within(0)}>
            {words.today}
          </Button>
          <Button kind="quiet" onPress={() => within(1, 0)}>
            {words.yesterday}
          </Button>
          <Button kind="quiet" onPress={() => within(6)}>
            {words.week}
          </Button>
        </>
      )}
      <Button icon="plus" onPress={() => setEditing('')}>
        {words.addFilter}
      </Button>
      {isAny ? (
        <Button kind="quiet" onPress={() => go(here(new URLSearchParams()))}>
          {words.clearAll}
        </Button>
      ) : null}
      {editing === null ? null : (
        <FilterDialog
          agents={agents}
          name={editing}
          value={query.get(editing) ?? ''}
          onApply={(name, value) => {
            set(name, value, editing);
            setEditing(null);
          }}
          onClose={() => setEditing(null)}
        />
      )}
    </search>
  );
}

function midnight(daysAgo: number): string {
  const at = new Date();
  at.setHours(0, 0, 0, 0);
  at.setDate(at.getDate() - daysAgo);
  return at.toISOString();
}

/**
 * What was said, in step with the sound. Of the agent, what nobody heard because it was cut off is struck through:
 * it is no part of the conversation.
 */
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { Turn } from '../../../clients/typescript/src/client.ts';
import { call as words } from '../../texts/en/call.ts';
import { Badge } from '../../ui/badge.tsx';
import { Empty } from '../../ui/states.tsx';
import { LongText } from '../../ui/text.tsx';
import { clockWords } from '../../ui/time.tsx';

export interface TranscriptProps {
  turns: readonly Turn[];
  /** We called: the other person is no caller. */
  isOutbound: boolean;
  /** In the recording; null while nothing is played. */
  atMs: number | null;
  isLive: boolean;
  emptyWords: string;
  marked: string | null;
  onPlay: ((atMs: number) => void) | null;
}

/** The turn in which that moment lies, or the last that had begun. */
export function turnAt(turns: readonly Turn[], atMs: number): Turn | undefined {
  return (
    turns.findLast(({ startMs, endMs }) => startMs <= atMs && atMs <= endMs) ??
    turns.findLast(({ startMs }) => startMs <= atMs)
  );
}

export function Transcript({ turns, isOutbound, atMs, isLive, emptyWords, marked, onPlay }: TranscriptProps) {
  const list = useRef<HTMLOListElement>(null);
  const now = atMs === null ? undefined : turnAt(turns, atMs);
  const nowKey = now === undefined ? null : keyOf(now);

  useEffect(() => {
    if (nowKey === null) return;
    list.current?.querySelector('.now')?.scrollIntoView({ block: 'nearest' });
  }, [nowKey]);
  useEffect(() => {
    const element = list.current;
    if (!isLive || element === null) return;
    // Who reads further up is not pulled down.
    const isAtEnd = element.scrollHeight - element.scrollTop - element.clientHeight < 160;
    if (isAtEnd) element.scrollTop = element.scrollHeight;
  }, [isLive, turns]);
  useEffect(() => {
    if (marked !== null) list.current?.querySelector('.marked')?.scrollIntoView({ block: 'nearest' });
  }, [marked]);

  // At each frame of the sound the same list is given: nothing is compared.
  const items = useMemo(
    () =>
      turns.map((turn) => (
        <TurnItem
          key={keyOf(turn)}
          turn={turn}
          isOutbound={isOutbound}
          isNow={keyOf(turn) === nowKey}
          isMarked={turn.turnId === marked}
          onPlay={onPlay}
        />
      )),
    [turns, isOutbound, nowKey, marked, onPlay],
  );
  if (turns.length === 0) return <Empty icon="say" title={emptyWords} />;
  return (
    // Words of a live call are told as they come, one turn at a time.
    <ol ref={list} class="transcript" aria-live={isLive ? 'polite' : undefined} aria-label={words.transcript}>
      {items}
    </ol>
  );
}

const keyOf = (turn: Turn): string => `${turn.turnId}-${turn.role}-${turn.startMs}`;

function TurnItem(props: {
  turn: Turn;
  isOutbound: boolean;
  isNow: boolean;
  isMarked: boolean;
  onPlay: ((atMs: number) => void) | null;
}) {
  const { turn, isOutbound, isNow, isMarked, onPlay } = props;
  const clock = clockWords(turn.startMs / 1_000);
  const speaker = turn.by ?? turn.role;
  const look = [
    'turn',
    turn.role,
    isNow ? 'now' : '',
    isMarked ? 'marked' : '',
    turn.kind === 'backchannel' ? 'murmur' : '',
  ];
  return (
    <li class={look.join(' ')}>
      <div class="who">
        <span>{speaker === 'user' && isOutbound ? words.personCalled : words.roles[speaker]}</span>
        {onPlay === null ? (
          <span class="clock soft">{clock}</span>
        ) : (
          <button
            type="button"
            class="inline clock"
            aria-label={words.playFrom(clock)}
            onClick={() => onPlay(turn.startMs)}
          >
            {clock}
          </button>
        )}
      </div>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the time beside it is the button for the keyboard */}
      <p
        class={onPlay === null ? undefined : 'plays'}
        onClick={onPlay === null ? undefined : (event) => playsFrom(event) && onPlay(turn.startMs)}
      >
        <Said turn={turn} />
      </p>
    </li>
  );
}

/** Who marks words, or presses what stands among them, wants something else. */
function playsFrom({ target }: Event): boolean {
  return (target as Element).closest('button, a') === null && getSelection()?.isCollapsed !== false;
}

function Said({ turn }: { turn: Turn }) {
  if (turn.kind === 'unclear') {
    const guess = turn.unclear?.guess;
    return (
      <span class="soft">
        <Badge tone="warn">{words.unclear}</Badge> {guess == null ? null : <bdi>{words.unclearGuess(guess)}</bdi>}
      </span>
    );
  }
  if (turn.role !== 'agent' || !turn.interrupted) return <LongText text={turn.heardText || turn.text} />;
  const rest = turn.text.startsWith(turn.heardText) ? turn.text.slice(turn.heardText.length) : '';
  return (
    <>
      <LongText text={turn.heardText} />
      {rest === '' ? null : (
        <del title={words.cut}>
          <span class="hidden">{words.cut}: </span>
          <LongText text={rest} />
        </del>
      )}
    </>
  );
}

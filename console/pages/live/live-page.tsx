/** Calls in progress as they happen: who, in what state, the last words, how fast it answers. One is a click away. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { followLive, type LiveCall } from '../../api/live-board.ts';
import { clientOf } from '../../api/request.ts';
import { may } from '../../api/session.ts';
import { live as words } from '../../texts/en/home.ts';
import { to } from '../../ui/address.ts';
import { Badge } from '../../ui/badge.tsx';
import { CallStatus, HangUp, numberBeside, whoOf } from '../../ui/call-words.tsx';
import { Icon } from '../../ui/icons.tsx';
import { useEvery } from '../../ui/load.ts';
import { Notice } from '../../ui/notice.tsx';
import { PageHead } from '../../ui/page.tsx';
import { Empty, Loading } from '../../ui/states.tsx';
import { Words } from '../../ui/text.tsx';
import { clockWords, msWords } from '../../ui/time.tsx';
import { VirtualRows } from '../../ui/virtual-rows.tsx';

const SLOW_REPLY_MS = 1_500;
const SHOWN_CHARACTERS = 48;
/** Screen readers hear how many there are no more often than this. */
const TOLD_EVERY_MS = 10_000;

export function LivePage({ enterprise }: { enterprise: string }) {
  const line = useMemo(() => followLive(enterprise), [enterprise]);
  useEffect(() => line.close, [line]);
  const { calls, state, holeMs, admission } = line.board.value;
  const [typed, setTyped] = useState('');
  const [nowMs, setNowMs] = useState(Date.now());
  useEvery(1_000, () => setNowMs(Date.now()));
  const [told, setTold] = useState('');
  useEvery(TOLD_EVERY_MS, () => setTold(words.count(calls.length)));
  const mayStop = may('calls:control') || may('calls:write');

  const wanted = typed.trim().toLowerCase();
  const shown = calls
    .filter((one) =>
      [one.name, one.to, one.agentName ?? '', one.lastWords?.text ?? ''].some((text) =>
        text.toLowerCase().includes(wanted),
      ),
    )
    // Rows stand still under a finger: a new call comes in below the others.
    .toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
  return (
    <div class="page wide full">
      <PageHead
        title={words.title}
        about={state === 'waiting' ? words.waiting : words.count(calls.length)}
        actions={
          <div class="search-box">
            <Icon name="search" />
            <input
              type="search"
              aria-label={words.search}
              placeholder={words.search}
              value={typed}
              onInput={(event) => setTyped(event.currentTarget.value)}
            />
          </div>
        }
      />
      <p class="hidden" role="status">
        {told}
      </p>
      <div role="status">
        {state === 'lost' ? (
          <Notice kind="warn">{words.lost}</Notice>
        ) : state === 'refused' ? (
          <Notice kind="warn">{words.refused}</Notice>
        ) : holeMs !== null ? (
          <Notice kind="good">{words.caughtUp(clockWords(holeMs / 1_000))}</Notice>
        ) : null}
        {admission === 'open' || state !== 'open' ? null : <Notice kind="warn">{words.notTaking[admission]}</Notice>}
      </div>
      <div class="bleed">
        {state === 'waiting' ? (
          <Loading lines={6} />
        ) : shown.length === 0 ? (
          <Empty icon="live" title={words.empty}>
            {words.emptyHint}
          </Empty>
        ) : (
          <VirtualRows<LiveCall>
            label={words.list}
            class="live"
            columns={Object.values(words.columns)}
            rows={shown}
            hasMore={false}
            keyOf={({ callUuid }) => callUuid}
            onNearEnd={() => {}}
          >
            {(call) => <LiveCells enterprise={enterprise} call={call} nowMs={nowMs} mayStop={mayStop} />}
          </VirtualRows>
        )}
      </div>
    </div>
  );
}

const orderOf = ({ startedAt, callUuid }: LiveCall): string => `${startedAt} ${callUuid}`;

/** Of a sentence under way the newest words are looked for, which a narrow column would cut off. */
function endOf(text: string): string {
  return text.length <= SHOWN_CHARACTERS ? text : `… ${text.slice(-SHOWN_CHARACTERS).replace(/^\S*\s/, '')}`;
}

function LiveCells(props: { enterprise: string; call: LiveCall; nowMs: number; mayStop: boolean }) {
  const { enterprise, call, nowMs, mayStop } = props;
  const { lastWords, replyMs } = call;
  const who = { ...call, fromNumber: call.from };
  const seconds = (nowMs - Date.parse(call.answeredAt ?? call.startedAt)) / 1_000;
  return (
    <>
      <div role="cell">
        {call.isLost ? (
          <Badge tone="bad">{words.isLost}</Badge>
        ) : call.state === null || call.status !== 'in_progress' ? (
          <CallStatus status={call.status} />
        ) : (
          <Badge tone={call.state === 'speaking' ? 'accent' : call.state === 'thinking' ? 'warn' : 'busy'}>
            {call.takenOver
              ? words.takenOver
              : call.mutedAgent
                ? words.muted
                : (words.states[call.state] ?? call.state)}
          </Badge>
        )}
      </div>
      <div role="cell">
        <a class="over" href={to(['w', enterprise, 'call', call.callUuid])}>
          <Words>{whoOf(who)}</Words>
        </a>{' '}
        <span class="soft">
          <Words>{numberBeside(who)}</Words>
        </span>
      </div>
      <div role="cell" class="soft">
        <Words>{call.agentName}</Words>
      </div>
      <div role="cell">
        {lastWords === null ? null : (
          <>
            <span class={lastWords.role === 'agent' ? 'by-agent' : 'by-caller'}>
              {lastWords.role === 'user' && call.direction === 'outbound'
                ? words.personCalled
                : words.who[lastWords.role]}
            </span>{' '}
            <Words>{lastWords.isPartial ? endOf(lastWords.text) : lastWords.text}</Words>
            {lastWords.isPartial ? <span class="soft"> …</span> : null}
          </>
        )}
      </div>
      <div role="cell" class="number">
        {call.isLost ? <span class="soft">–</span> : clockWords(seconds)}
      </div>
      <div role="cell" class={replyMs !== null && replyMs > SLOW_REPLY_MS ? 'number late' : 'number'}>
        {replyMs === null ? <span class="soft">–</span> : msWords(replyMs)}
      </div>
      <div role="cell" class="above">
        {mayStop ? (
          <HangUp call={who} run={() => clientOf(enterprise).hangUp({ callUuid: call.callUuid })} isQuiet />
        ) : null}
      </div>
    </>
  );
}

/**
 * The calls of a workspace that are in progress, as they change (`GET …/live`). After a hole the service begins with
 * all of them anew: nothing is missed, and how long nothing came is said. A hole is also what tells of itself by
 * nothing: a line that is silent for longer than the service ever is, an answer that is no stream (a service that comes
 * up again, a session that is over). A page that nobody sees lets go of the stream: as long as somebody follows them,
 * the service writes at once what its calls tell. Seen again, it begins with all of them anew.
 */
import { signal } from '@preact/signals';
import { consoleFetch, ofWorkspace } from './request.ts';
import { doubts } from './session.ts';

export interface LiveCall {
  callUuid: string;
  status: string;
  state: 'listening' | 'thinking' | 'speaking' | null;
  agentId: string;
  agentName: string | null;
  name: string;
  to: string;
  from: string;
  direction: string;
  channel: string;
  startedAt: string;
  answeredAt: string | null;
  /** `isPartial`: they are still being said. */
  lastWords: { role: 'agent' | 'user'; text: string; at: string; isPartial: boolean } | null;
  replyMs: number | null;
  mutedAgent: boolean;
  /** A person speaks in the agent's place. */
  takenOver: boolean;
  /** The process that carried it is not heard any more. */
  isLost: boolean;
}

/** Whether the service takes new calls. */
type Admission = 'open' | 'draining' | 'no_capacity' | 'overloaded';

export interface LiveBoard {
  calls: LiveCall[];
  /** `waiting`: the stream is not open yet; `lost`: it was, and comes again by itself; `refused`: it will not. */
  state: 'waiting' | 'open' | 'lost' | 'refused';
  /** Of the last hole, once it is over: how long nothing came. Null: there was none for a while. */
  holeMs: number | null;
  admission: Admission;
}

/** The service says each 15 s that nothing has changed. */
const MOST_SILENT_MS = 25_000;
const LOOK_EVERY_MS = 2_500;
const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 8_000;
const HOLE_SHOWN_MS = 15_000;
/** Another tab was looked at for so long. */
const UNSEEN_MS = 30_000;

export function followLive(enterprise: string): { board: { readonly value: LiveBoard }; close(): void } {
  const path = `/api/console/${ofWorkspace(enterprise, 'live')}`;
  const board = signal<LiveBoard>({ calls: [], state: 'waiting', holeMs: null, admission: 'open' });
  let admission: Admission = 'open';
  const calls = new Map<string, LiveCall>();
  const gone = new AbortController();
  let source: EventSource;
  let frame = 0;
  let retryMs = FIRST_RETRY_MS;
  let heardAtMs = performance.now();
  let hole: { sinceMs: number; endedMs: number | null } | null = null;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let unseen: ReturnType<typeof setTimeout> | undefined;
  let isAsleep = false;
  /** What is asked for again; whatever was asked before is no longer waited for. */
  let attempt = 0;

  const show = (state: LiveBoard['state']): void => {
    cancelAnimationFrame(frame);
    // However many changes come between two frames, they are drawn once.
    frame = requestAnimationFrame(() => {
      const holeMs = hole === null || hole.endedMs === null ? null : hole.endedMs - hole.sinceMs;
      board.value = { calls: [...calls.values()], state, holeMs, admission };
    });
  };

  function heard(said: { admission: Admission }): void {
    ({ admission } = said);
    heardAtMs = performance.now();
    retryMs = FIRST_RETRY_MS;
    if (hole !== null && hole.endedMs === null) hole.endedMs = heardAtMs;
    show('open');
  }

  function lost(): void {
    if (hole === null || hole.endedMs !== null) hole = { sinceMs: heardAtMs, endedMs: null };
    show('lost');
  }

  function open(): void {
    source = new EventSource(path);
    source.addEventListener('snapshot', ({ data }) => {
      const all = JSON.parse(data) as { admission: Admission; calls: LiveCall[] };
      calls.clear();
      for (const call of all.calls) calls.set(call.callUuid, call);
      heard(all);
    });
    source.addEventListener('changes', ({ data }) => {
      const told = JSON.parse(data) as { admission: Admission; changed: LiveCall[]; gone: string[] };
      for (const call of told.changed) calls.set(call.callUuid, call);
      for (const callUuid of told.gone) calls.delete(callUuid);
      heard(told);
    });
    source.addEventListener('heartbeat', ({ data }) => heard(JSON.parse(data) as { admission: Admission }));
    source.addEventListener('error', () => {
      lost();
      // Sooner than the browser would by itself, and in a way that tells why there is no stream any more.
      openLater();
    });
  }

  function openLater(): void {
    source.close();
    clearTimeout(retry);
    retry = setTimeout(() => void openAgain(), retryMs);
    retryMs = Math.min(LONGEST_RETRY_MS, retryMs * 2);
  }

  /** Asked first in a way that tells why it is refused: a session that is over opens the sign-in. */
  async function openAgain(): Promise<void> {
    const mine = ++attempt;
    const asking = new AbortController();
    const status = await consoleFetch(path, { signal: AbortSignal.any([gone.signal, asking.signal]) }).then(
      (answer) => answer.status,
      () => 0,
    );
    asking.abort();
    if (mine !== attempt) return;
    heardAtMs = performance.now();
    if (status === 403 || status === 404) show('refused');
    else if (status === 200) {
      // The service ends a stream whose person has other rights by now.
      doubts.value++;
      open();
    } else openLater();
  }

  const timer = setInterval(() => {
    const nowMs = performance.now();
    if (hole !== null && hole.endedMs !== null && nowMs - hole.endedMs > HOLE_SHOWN_MS) {
      hole = null;
      show('open');
    }
    if (source.readyState !== EventSource.OPEN || nowMs - heardAtMs < MOST_SILENT_MS) return;
    lost();
    openLater();
  }, LOOK_EVERY_MS);

  function letGo(): void {
    attempt++;
    clearTimeout(retry);
    source.close();
  }

  function seenOrNot(): void {
    clearTimeout(unseen);
    if (document.hidden) {
      unseen = setTimeout(() => {
        isAsleep = true;
        letGo();
      }, UNSEEN_MS);
    } else if (isAsleep) {
      isAsleep = false;
      heardAtMs = performance.now();
      open();
    }
  }

  document.addEventListener('visibilitychange', seenOrNot);
  open();
  return {
    board,
    close() {
      document.removeEventListener('visibilitychange', seenOrNot);
      gone.abort();
      clearInterval(timer);
      clearTimeout(unseen);
      cancelAnimationFrame(frame);
      letGo();
    },
  };
}

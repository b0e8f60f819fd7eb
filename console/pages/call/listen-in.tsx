/** Listening in to a call that runs, and from there speaking with its caller: how far behind one is, why it ended. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Listening, type ListeningEnd, listenIn } from '../../api/listening.ts';
import { may } from '../../api/session.ts';
import { call as words } from '../../texts/en/call.ts';
import { Button } from '../../ui/button.tsx';
import { useEvery } from '../../ui/load.ts';
import { Notice } from '../../ui/notice.tsx';
import { type LiveSound, playLive } from './live-sound.ts';
import { TakeOver } from './take-over.tsx';

const SHOWN_EVERY_MS = 1_000;

type State = { kind: 'off' } | { kind: 'opening' | 'on' } | { kind: 'ended'; why: ListeningEnd | 'cannot' };

/** Stays after the call's end, to say that it has ended. */
export function ListenIn(props: { enterprise: string; callUuid: string; isLive: boolean }) {
  const { enterprise, callUuid, isLive } = props;
  const [state, setState] = useState<State>({ kind: 'off' });
  const [behindMs, setBehindMs] = useState<number | null>(null);
  const [isTaken, setTaken] = useState(false);
  const running = useRef<{ listening: Listening | null; sound: LiveSound | null } | null>(null);

  function stop(next: State): void {
    running.current?.listening?.end();
    running.current?.sound?.close();
    running.current = null;
    setBehindMs(null);
    setTaken(false);
    setState(next);
  }

  async function start(): Promise<void> {
    const own = { listening: null as Listening | null, sound: null as LiveSound | null };
    running.current = own;
    setState({ kind: 'opening' });
    const isOwn = (): boolean => running.current === own;
    try {
      own.listening = await listenIn(enterprise, callUuid, {
        ready(caller, agent) {
          if (!isOwn()) return;
          try {
            own.sound = playLive(caller, agent);
            setState({ kind: 'on' });
          } catch {
            stop({ kind: 'ended', why: 'cannot' });
          }
        },
        sound: (frames) => own.sound?.play(frames),
        roundTrip: (ms) => own.sound?.roundTrip(ms),
        takeover: (isOn) => isOwn() && setTaken(isOn),
        ended: (why) => isOwn() && stop({ kind: 'ended', why }),
      });
      if (!isOwn()) own.listening.end();
    } catch (error) {
      if (isOwn()) stop({ kind: 'off' });
      throw error;
    }
  }

  useEffect(
    () => () => {
      running.current?.listening?.end();
      running.current?.sound?.close();
      running.current = null;
    },
    [],
  );
  useEvery(SHOWN_EVERY_MS, () => {
    const sound = running.current?.sound;
    if (sound !== null && sound !== undefined && sound.behindMs > 0) setBehindMs(Math.round(sound.behindMs));
  });

  const isOn = state.kind === 'on' || state.kind === 'opening';
  if (!isLive && !isOn && state.kind !== 'ended') return null;
  const { listening = null, sound = null } = running.current ?? {};
  return (
    <div class="stack">
      {isLive || isOn ? (
        <div class="line">
          <Button
            icon="sound"
            kind={isOn ? 'plain' : 'main'}
            title={words.listenHint}
            onPress={() => (isOn ? stop({ kind: 'off' }) : start())}
          >
            {isOn ? words.listenStop : state.kind === 'ended' ? words.listenAgain : words.listen}
          </Button>
          <span class="tiny" role="status">
            {state.kind === 'opening' ? words.listeningOpens : state.kind === 'on' ? words.listening : null}
          </span>
          {state.kind === 'on' && behindMs !== null ? (
            <span class="soft tiny number">{words.listeningBehind(behindMs)}</span>
          ) : null}
        </div>
      ) : null}
      {state.kind === 'on' && listening !== null && may('calls:control') ? (
        <TakeOver listening={listening} isTaken={isTaken} onSpeaking={(isSpeaking) => sound?.hushAgent(isSpeaking)} />
      ) : null}
      {state.kind === 'ended' ? (
        <Notice kind={state.why === 'call_over' ? 'info' : 'warn'}>
          {words.listeningEnded[state.why] ?? words.listeningEnded.other}
        </Notice>
      ) : null}
    </div>
  );
}

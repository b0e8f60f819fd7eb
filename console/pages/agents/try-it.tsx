/** Trying an agent in the page: by typing, or by voice, in the service's own page for that. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { AgentDetail } from '../../../clients/typescript/src/client.ts';
import { ParleyError } from '../../../clients/typescript/src/parley-error.ts';
import { type LiveSession, openTextSession, type Said } from '../../api/live-session.ts';
import { clientOf } from '../../api/request.ts';
import { may } from '../../api/session.ts';
import { agents as words } from '../../texts/en/agents.ts';
import { call as callWords } from '../../texts/en/call.ts';
import { to } from '../../ui/address.ts';
import { Button } from '../../ui/button.tsx';
import { wordsOf } from '../../ui/error-words.ts';
import { Select } from '../../ui/field.tsx';
import { useLoad } from '../../ui/load.ts';
import { Notice } from '../../ui/notice.tsx';
import { Empty, Shown } from '../../ui/states.tsx';
import { msWords } from '../../ui/time.tsx';

export function TryIt({ enterprise, agent }: { enterprise: string; agent: AgentDetail }) {
  const client = clientOf(enterprise);
  const [chosen, setChosen] = useState<string | null>(null);
  const [way, setWay] = useState<'text' | 'voice'>('text');
  const keys = useLoad(
    async (signal) => {
      const { data } = await client.listWidgetKeys({}, { signal });
      return data.data.filter(({ enabled, revokedAt }) => enabled && revokedAt === null);
    },
    [enterprise],
  );
  if (agent.direction !== 'web' && agent.direction !== 'any') {
    return <Empty title={words.tryNotWeb}>{words.tryNotWebHint}</Empty>;
  }
  async function makeKey(): Promise<void> {
    await client.createWidgetKey({ body: { name: 'Console', allowedOrigins: [location.origin] } });
    keys.reload();
  }
  return (
    <Shown of={keys}>
      {(all) => {
        const publicKey = chosen ?? all[0]?.publicKey;
        if (publicKey === undefined) {
          return (
            <Empty
              icon="voice"
              title={words.tryNeedsKey}
              action={
                may('settings:write') ? (
                  <Button kind="main" onPress={makeKey}>
                    {words.tryMakeKey}
                  </Button>
                ) : undefined
              }
            >
              {may('settings:write') ? words.tryAbout : words.tryNeedsKeyHint}
            </Empty>
          );
        }
        return (
          <div class="stack">
            <p class="soft">{words.tryAbout}</p>
            <div class="line">
              <Button icon="say" isPressed={way === 'text'} onPress={() => setWay('text')}>
                {words.tryText}
              </Button>
              <Button icon="voice" isPressed={way === 'voice'} onPress={() => setWay('voice')}>
                {words.tryTalk}
              </Button>
              {all.length < 2 ? null : (
                <Select
                  label={words.tryKey}
                  value={publicKey}
                  options={all.map((one) => ({ value: one.publicKey, label: one.name }))}
                  onInput={setChosen}
                />
              )}
            </div>
            {way === 'voice' ? (
              <Spoken key={publicKey} enterprise={enterprise} publicKey={publicKey} agentId={agent.id} />
            ) : (
              <Typed key={publicKey} enterprise={enterprise} publicKey={publicKey} agentId={agent.id} />
            )}
          </div>
        );
      }}
    </Shown>
  );
}

/** The page says which call it holds: that can be looked at while it runs, and when it is over. */
function Spoken({ enterprise, publicKey, agentId }: { enterprise: string; publicKey: string; agentId: string }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [callUuid, setCallUuid] = useState<string | null>(null);
  useEffect(() => {
    const take = ({ source, origin, data }: MessageEvent): void => {
      if (source !== frame.current?.contentWindow || origin !== location.origin) return;
      const { type, callUuid: told } = data as { type?: unknown; callUuid?: unknown };
      if (type === 'call' && typeof told === 'string') setCallUuid(told);
    };
    addEventListener('message', take);
    return () => removeEventListener('message', take);
  }, []);
  return (
    <>
      <iframe
        ref={frame}
        class="talk-frame"
        title={words.tryTalk}
        src={`/talk/${encodeURIComponent(publicKey)}/${agentId}`}
        allow="microphone; autoplay"
      />
      {callUuid === null ? null : (
        <p>
          <a href={to(['w', enterprise, 'call', callUuid])} target="_blank" rel="noreferrer">
            {words.trySeeBeside}
          </a>
        </p>
      )}
    </>
  );
}

function Typed({ enterprise, publicKey, agentId }: { enterprise: string; publicKey: string; agentId: string }) {
  const session = useRef<LiveSession | null>(null);
  const list = useRef<HTMLOListElement>(null);
  const [state, setState] = useState<'ready' | 'connecting' | 'open' | 'over'>('ready');
  const [callUuid, setCallUuid] = useState<string | null>(null);
  const [said, setSaid] = useState<readonly Said[]>([]);
  const [problem, setProblem] = useState<string | null>(null);
  const [text, setText] = useState('');
  useEffect(() => () => session.current?.end(), []);
  // Down with each new word.
  useEffect(() => {
    if (list.current !== null) list.current.scrollTop = list.current.scrollHeight;
  }, [said]);

  async function begin(): Promise<void> {
    setState('connecting');
    setSaid([]);
    setProblem(null);
    try {
      session.current = await openTextSession(
        { publicKey, agentId },
        {
          opened(id) {
            setCallUuid(id);
            setState('open');
          },
          said: setSaid,
          ended(fault) {
            setProblem(fault);
            setState('over');
          },
        },
      );
    } catch (error) {
      const isForeign = error instanceof ParleyError && error.code === 'origin_not_allowed';
      setProblem(isForeign ? words.tryWrongOrigin(location.origin) : wordsOf(error).title);
      setState('ready');
    }
  }
  return (
    <div class="section chat">
      {problem === null ? null : <Notice kind="error">{problem}</Notice>}
      <ol ref={list} class="transcript" aria-live="polite" aria-label={callWords.transcript}>
        {said.map((one) => (
          <li key={`${one.role} ${one.turnId}`} class={`turn ${one.role}`}>
            <div class="who">
              <span>{callWords.roles[one.role]}</span>
              {one.replyMs === null ? null : <span class="clock">{msWords(one.replyMs)}</span>}
            </div>
            <p class={one.isFinal ? '' : 'soft'}>
              <bdi>{one.text}</bdi>
              {one.isCut ? '…' : ''}
            </p>
          </li>
        ))}
      </ol>
      {state === 'open' ? (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (text.trim() === '') return;
            session.current?.send(text.trim());
            setText('');
          }}
        >
          <input
            autofocus
            aria-label={words.tryType}
            placeholder={words.tryType}
            maxLength={2_000}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
          <Button type="submit" kind="main" icon="send" label={words.trySend} />
          <Button onPress={() => session.current?.end()}>{words.tryEnd}</Button>
        </form>
      ) : (
        <div class="line">
          <Button kind="main" isBusy={state === 'connecting'} onPress={begin}>
            {state === 'over' ? words.tryAgain : state === 'connecting' ? words.tryConnecting : words.tryStart}
          </Button>
          {state === 'over' ? <span class="soft">{words.tryEnded}</span> : null}
          {callUuid === null ? null : <a href={to(['w', enterprise, 'call', callUuid])}>{words.trySee}</a>}
        </div>
      )}
    </div>
  );
}

/** A call: its sound and its words in step, beside them what was found, how fast, by what, and what was sent of it. */
import type { ComponentChildren } from 'preact';
import { useCallback, useEffect, useState } from 'preact/hooks';
import type { Call } from '../../../clients/typescript/src/client.ts';
import { readPeaks } from '../../api/overview.ts';
import { clientOf, consolePath } from '../../api/request.ts';
import { may } from '../../api/session.ts';
import { call as words } from '../../texts/en/call.ts';
import { to } from '../../ui/address.ts';
import { CallStatus, endedAs, HangUp, isOver, numberBeside, whoOf } from '../../ui/call-words.tsx';
import { Icon } from '../../ui/icons.tsx';
import { useLoad } from '../../ui/load.ts';
import { PageHead, Tabs } from '../../ui/page.tsx';
import { Shown } from '../../ui/states.tsx';
import { Words } from '../../ui/text.tsx';
import { clockWords, msWords, Time } from '../../ui/time.tsx';
import { Analysis } from './analysis.tsx';
import { Details } from './details.tsx';
import { Events } from './events.tsx';
import { Held } from './held.tsx';
import { ListenIn } from './listen-in.tsx';
import { LiveControls } from './live-controls.tsx';
import { MoreMenu } from './more-menu.tsx';
import { Player } from './player.tsx';
import { type Latency, Replies } from './replies.tsx';
import { Tools } from './tools.tsx';
import { Transcript } from './transcript.tsx';
import { useCall } from './use-call.ts';
import { isAgentMuted, useCallEvents } from './use-call-events.ts';
import { useSound } from './use-sound.ts';
import { useSteps } from './use-steps.ts';
import { Webhooks } from './webhooks.tsx';

type Tab = 'analysis' | 'replies' | 'tools' | 'events' | 'webhooks' | 'details';
const TABS: readonly Tab[] = ['analysis', 'replies', 'tools', 'events', 'webhooks', 'details'];

export function CallPage({ enterprise, rest }: { enterprise: string; rest: readonly string[] }) {
  const [callUuid = ''] = rest;
  // An address that was cut off before the id.
  if (callUuid === '') return <Elsewhere address={to(['w', enterprise, 'calls'])} />;
  return <LoadedCall enterprise={enterprise} callUuid={callUuid} tab={rest[1]} />;
}

function Elsewhere({ address }: { address: string }) {
  useEffect(() => location.replace(address), [address]);
  return null;
}

function LoadedCall(props: { enterprise: string; callUuid: string; tab: string | undefined }) {
  const { enterprise, callUuid, tab } = props;
  const call = useCall(enterprise, callUuid);
  return (
    <div class="page wide">
      <a class="back" href={to(['w', enterprise, 'calls'])}>
        <Icon name="left" size={14} /> {words.back}
      </a>
      {call.data === undefined && call.error !== undefined ? <PageHead title={words.title} /> : null}
      <Shown of={call} lines={10}>
        {(data) => <CallView key={callUuid} enterprise={enterprise} call={data} tab={tab} onChange={call.reload} />}
      </Shown>
    </div>
  );
}

function CallView(props: { enterprise: string; call: Call; tab: string | undefined; onChange(): void }) {
  const { enterprise, call, onChange } = props;
  const { callUuid, recording } = call;
  const isLive = !isOver(call.status);
  const mayHear = may('recordings:read');
  const address =
    recording.status === 'ready' && mayHear
      ? consolePath(enterprise, `/api/developer/calls/${callUuid}/recording`)
      : null;
  const sound = useSound(address, recording.durationSeconds ?? 0, (signal) => readPeaks(enterprise, callUuid, signal));
  const [marked, setMarked] = useState<string | null>(null);
  const agents = useLoad(
    async (signal) => (may('agents:read') ? (await clientOf(enterprise).listAgents({}, { signal })).data.data : []),
    [enterprise],
  );
  const agentName = agents.data?.find(({ id }) => id === call.agentId)?.name ?? null;
  const tab = TABS.find((one) => one === props.tab) ?? (isLive ? 'events' : 'analysis');
  const mayControl = may('calls:control') || may('calls:write');
  const isSteered = call.status === 'in_progress' && mayControl;
  const steps = useSteps(enterprise, call, isSteered);
  const events = useCallEvents(enterprise, { callUuid, isLive, isWanted: isSteered || tab === 'events' });
  const playFrom = sound?.playFrom;
  const play = useCallback((atMs: number) => playFrom?.(atMs / 1_000), [playFrom]);

  /** What a figure or a quote is of: marked in the transcript, and the sound stands there. */
  function show(turnId: string): void {
    setMarked(turnId);
    const turn = call.turns.find((one) => one.turnId === turnId);
    if (turn !== undefined) sound?.seek(turn.startMs / 1_000);
  }
  const inTab: Record<Tab, () => ComponentChildren> = {
    analysis: () => <Analysis call={call} onShow={show} />,
    replies: () => <Replies latency={call.latency as Latency | null} turns={call.turns} onShow={show} />,
    tools: () => <Tools tools={call.tools} />,
    events: () => <Events call={call} events={events} />,
    webhooks: () => <Webhooks enterprise={enterprise} callUuid={callUuid} />,
    details: () => <Details enterprise={enterprise} call={call} agentName={agentName} />,
  };
  return (
    <>
      <PageHead
        title={whoOf(call)}
        heading={<Words>{whoOf(call)}</Words>}
        about={<Facts enterprise={enterprise} call={call} agentName={agentName} />}
        actions={
          <>
            {isLive && mayControl ? (
              <HangUp call={call} run={() => clientOf(enterprise).hangUp({ callUuid }).then(onChange)} />
            ) : null}
            <MoreMenu enterprise={enterprise} call={call} isOver={!isLive} onDeleted={onChange} />
          </>
        }
      />
      <div class="call-grid">
        <div class="stack">
          {sound === null ? (
            <p class="soft tiny">{isLive ? null : noSound(recording.status, mayHear)}</p>
          ) : (
            <Player sound={sound} turns={call.turns} />
          )}
          {call.answeredAt !== null && may('calls:listen') ? (
            <ListenIn enterprise={enterprise} callUuid={callUuid} isLive={call.status === 'in_progress'} />
          ) : null}
          {isSteered ? (
            <LiveControls
              enterprise={enterprise}
              callUuid={callUuid}
              isMuted={isAgentMuted(events.data ?? [])}
              steps={steps}
              onChange={events.reload}
            />
          ) : null}
          <Transcript
            turns={call.turns}
            isOutbound={call.direction === 'outbound'}
            atMs={sound === null || (!sound.isPlaying && sound.atSeconds === 0) ? null : sound.atSeconds * 1_000}
            isLive={isLive}
            emptyWords={isLive ? words.wordsToCome : call.answeredAt === null ? words.notReached : words.noWords}
            marked={marked}
            onPlay={sound === null ? null : play}
          />
        </div>
        <div class="stack call-side">
          <Tabs
            label={words.tabs}
            tabs={TABS.map((one) => ({
              label: words[one],
              href: to(['w', enterprise, 'call', callUuid, one]),
              isHere: one === tab,
            }))}
          />
          {inTab[tab]()}
        </div>
      </div>
    </>
  );
}

function noSound(status: string, mayHear: boolean): string {
  if (status === 'pending') return words.pendingRecording;
  if (status === 'deleted') return words.recordingDeleted;
  return status === 'ready' && !mayHear ? words.listenNot : words.noRecording;
}

function Facts({ enterprise, call, agentName }: { enterprise: string; call: Call; agentName: string | null }) {
  const p95 = (call.latency as Latency | null)?.mouthToEarMs?.p95;
  return (
    <div class="call-facts">
      <CallStatus status={call.status} />
      {isOver(call.status) ? <span>{endedAs(call.endedReason, call.direction)}</span> : null}
      {numberBeside(call) === '' ? null : <Words>{numberBeside(call)}</Words>}
      <span>
        <Time at={call.createdAt} />
      </span>
      {call.durationSeconds === null ? null : <span class="clock">{clockWords(call.durationSeconds)}</span>}
      {agentName === null ? null : <Words>{agentName}</Words>}
      {p95 === undefined ? null : (
        <span>
          {words.quality} {msWords(p95)}
        </span>
      )}
      <Held enterprise={enterprise} callUuid={call.callUuid} />
    </div>
  );
}

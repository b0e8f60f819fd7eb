/** The events of a call, asked for again while it runs, and what they say of it that its entry does not. */
import type { CallEvents } from '../../../clients/typescript/src/client.ts';
import { clientOf } from '../../api/request.ts';
import { type Loaded, useEvery, useLoad } from '../../ui/load.ts';

export type CallEventList = CallEvents['data'];

const REFRESH_MS = 2_000;

/** `isWanted` false: nobody looks at them, and they are not asked for. */
export function useCallEvents(
  enterprise: string,
  { callUuid, isLive, isWanted }: { callUuid: string; isLive: boolean; isWanted: boolean },
): Loaded<CallEventList> {
  const events = useLoad(
    async (signal): Promise<CallEventList> =>
      isWanted ? (await clientOf(enterprise).readCallEvents({ callUuid }, { signal })).data.data : [],
    [enterprise, callUuid, isWanted],
  );
  useEvery(REFRESH_MS, events.reload, isLive && isWanted);
  return events;
}

/** Whoever did it. An agent that gets its call back from a person is not muted. */
export function isAgentMuted(events: CallEventList): boolean {
  const last = events.findLast(
    ({ kind, data }) =>
      (kind === 'takeover' && data['phase'] === 'ended') ||
      (kind === 'control' && data['result'] === 'done' && String(data['action']).endsWith('mute_agent')),
  );
  return last?.kind === 'control' && last.data['action'] === 'mute_agent';
}

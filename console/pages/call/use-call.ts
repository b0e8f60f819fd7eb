/**
 * One call, kept up to date while it runs: the service's stream of its events says that something happened, and the
 * call is read anew, at most once a second. Where the stream is lost the browser opens it again.
 */
import { useEffect } from 'preact/hooks';
import type { Call } from '../../../clients/typescript/src/client.ts';
import { clientOf, consolePath } from '../../api/request.ts';
import { isOver } from '../../ui/call-words.tsx';
import { type Loaded, useLoad } from '../../ui/load.ts';

const LEAST_MS = 1_000;
/** Recording and analysis come after the end. */
const SETTLING_MS = 2_000;

export function useCall(enterprise: string, callUuid: string): Loaded<Call> {
  const call = useLoad(
    async (signal) => (await clientOf(enterprise).readCall({ callUuid }, { signal })).data,
    [enterprise, callUuid],
  );
  const { data, reload } = call;
  const isRunning = data !== undefined && !isOver(data.status);
  const isSettling =
    data !== undefined &&
    !isRunning &&
    [data.recording.status, data.transcriptStatus, data.analysisStatus].includes('pending');

  useEffect(() => {
    if (!isRunning) return;
    let timer = 0;
    let askedMs = performance.now();
    const source = new EventSource(consolePath(enterprise, `/api/developer/calls/${callUuid}/events`));
    const soon = (): void => {
      if (timer !== 0) return;
      timer = setTimeout(
        () => {
          timer = 0;
          askedMs = performance.now();
          reload();
        },
        Math.max(0, askedMs + LEAST_MS - performance.now()),
      ) as unknown as number;
    };
    // Events have their kind as their name: whatever comes means that the call is another.
    const kinds = [
      'message',
      'end',
      'ringing',
      'answered',
      'turn',
      'latency',
      'speech',
      'control',
      'status',
      'tool',
      'recovery',
    ];
    for (const kind of kinds) source.addEventListener(kind, soon);
    source.addEventListener('end', () => source.close());
    const poll = setInterval(soon, 2 * LEAST_MS);
    return () => {
      source.close();
      clearInterval(poll);
      clearTimeout(timer);
    };
  }, [enterprise, callUuid, isRunning, reload]);

  useEffect(() => {
    if (!isSettling) return;
    const timer = setInterval(reload, SETTLING_MS);
    return () => clearInterval(timer);
  }, [isSettling, reload]);
  return call;
}

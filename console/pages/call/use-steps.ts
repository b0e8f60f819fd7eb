/** The steps to which a scripted agent of a call can be sent by a whisper, as its version of that call has them. */
import type { Call } from '../../../clients/typescript/src/client.ts';
import { clientOf } from '../../api/request.ts';
import { may } from '../../api/session.ts';
import { useLoad } from '../../ui/load.ts';

/**
 * Empty: the agent is not scripted, or its definition is not for this role. Null: not known yet.
 */
export function useSteps(enterprise: string, call: Call, isWanted: boolean): readonly string[] | null {
  const { agentId, agentVersion: version } = call;
  const isRead = isWanted && may('settings:read');
  const steps = useLoad(
    async (signal) => {
      if (!isRead) return [];
      const { definition } = (await clientOf(enterprise).readAgentVersion({ agentId, version }, { signal })).data;
      return definition['kind'] === 'scripted' ? idsOf(definition['steps']) : [];
    },
    [enterprise, agentId, version, isRead],
  );
  return steps.data ?? (steps.error === undefined ? null : []);
}

function idsOf(steps: unknown): string[] {
  return Array.isArray(steps) ? (steps as { id?: unknown }[]).map(({ id }) => String(id)) : [];
}

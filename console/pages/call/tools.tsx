/** What the agent asked of other services in this call, how long that took and how it went. */
import type { ToolUse } from '../../../clients/typescript/src/client.ts';
import { call as words } from '../../texts/en/call.ts';
import { toolOutcome } from '../../texts/en/tool-outcomes.ts';
import { Badge } from '../../ui/badge.tsx';
import { Empty } from '../../ui/states.tsx';
import { msWords, Time } from '../../ui/time.tsx';

const TONES = { ok: 'good', failed: 'bad', cancelled: 'quiet' } as const;

export function Tools({ tools }: { tools: readonly ToolUse[] }) {
  if (tools.length === 0) return <Empty title={words.noTools} />;
  return (
    <ul class="items">
      {tools.map((one) => (
        <li key={one.toolCallId}>
          <div class="line apart">
            <code>{one.name}</code>
            <Badge tone={one.outcome === null ? 'busy' : TONES[one.outcome]}>
              {toolOutcome(one.error ?? one.outcome ?? '…')}
              {one.status === null ? '' : ` · ${one.status}`}
            </Badge>
          </div>
          <div class="line apart soft tiny">
            <Time at={one.startedAt} isExact />
            <span class="number">{msWords(one.ms)}</span>
          </div>
        </li>
      ))}
    </ul>
  );
}

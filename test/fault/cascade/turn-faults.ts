/**
 * Which turns of which calls are struck, and by what: made of a seed alone. A fault of the ears or the voice strikes
 * one of the sockets that are open, one of the model or a tool the next request. Carried out as the callee speaks.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { ProvidersProcess } from '../../../bench/harness/providers-process.ts';
import { LINES, STRANGE_LINES, TOOL_LINE } from './conversation.ts';
import type { MoodyTool } from './moody-tool.ts';

export interface TurnFault {
  part: 'ears' | 'model' | 'voice' | 'tool';
  kind: string;
  /** 0 to 1: which socket, after how many messages. */
  chance: number;
}

const SOCKET_FAULTS = [
  'stall',
  'reset',
  'half_open',
  'throttled',
  'failing',
  'garbage',
  'slow_drip',
  'revoked_key',
  'foreign_answer',
] as const;
const KINDS: readonly Pick<TurnFault, 'part' | 'kind'>[] = [
  ...SOCKET_FAULTS.map((kind) => ({ part: 'ears' as const, kind })),
  ...SOCKET_FAULTS.map((kind) => ({ part: 'voice' as const, kind })),
  ...SOCKET_FAULTS.map((kind) => ({ part: 'model' as const, kind })),
  { part: 'model', kind: 'empty_stream' },
  { part: 'model', kind: 'endless_answer' },
  { part: 'tool', kind: 'no_answer' },
];
const PROVIDER = { ears: 'deepgram', model: 'openai', voice: 'elevenlabs' } as const;
const PATH = { ears: '/v1/listen', model: '/v1/chat/completions', voice: 'multi-stream-input' } as const;
/** What the next socket or request is refused with. */
const STATUS: Readonly<Record<string, number>> = { throttled: 429, failing: 503 };
const REVOKED_FOR_MS = 2_000;

/** By call, then by line; null: not struck. `share` of the turns is. */
export function planTurnFaults(calls: number, share: number, random: () => number): (TurnFault | null)[][] {
  return Array.from({ length: calls }, () =>
    LINES.map((_line, turn) => {
      const isStruck = random() < share;
      const [which, chance] = [random(), random()];
      if (!isStruck) return null;
      const mayBe = KINDS.filter(({ part }) => part !== 'tool' || turn === TOOL_LINE);
      return { ...mayBe[Math.floor(which * mayBe.length)]!, chance };
    }),
  );
}

/** Of one call: a strange line stands where a fault needs one. */
export function linesWith(faults: readonly (TurnFault | null)[]): string[] {
  return LINES.map((line, turn) => STRANGE_LINES[faults[turn]?.kind as keyof typeof STRANGE_LINES] ?? line);
}

/** Resolves when it is done, and a key that was revoked counts again. */
export async function strike(fault: TurnFault, providers: ProvidersProcess, tool: MoodyTool): Promise<void> {
  const { part, kind, chance } = fault;
  if (part === 'tool') {
    tool.fallsSilent();
    return;
  }
  if (kind in STRANGE_LINES) return;
  const provider = PROVIDER[part];
  const on = PATH[part];
  const status = STATUS[kind];
  if (part === 'model') {
    const afterMessages = kind === 'revoked_key' ? 0 : Math.floor(chance * 8);
    await providers.fault(provider, [
      status === undefined ? { kind, on, afterMessages } : { kind: 'status', status, on },
    ]);
  } else if (status !== undefined) {
    await providers.fault(provider, [{ kind: 'status', status, on }]);
    await providers.fault(provider, [{ kind: 'reset', on, pick: chance }], true);
  } else await providers.fault(provider, [{ kind, on, pick: chance }], true);
  if (kind !== 'revoked_key') return;
  await wait(REVOKED_FOR_MS);
  await providers.allow(provider, providers.key);
}

export const nameOf = ({ part, kind }: TurnFault): string => `${part} ${kind}`;

/** A provider thread's desk in this thread, with real ports and sockets to loopback, and what it told its process. */
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { pino } from 'pino';
import { type Clock, systemClock } from '../../../../media/contract/clock.ts';
import type { ConnectionGrant } from '../../../../media/contract/grant.ts';
import type { FromProviderThread } from '../../../../media/contract/thread-messages.ts';
import { ProviderDesk } from '../../../../media/engines/provider/provider-desk.ts';
import type { ServiceKind } from '../../../../media/engines/provider/provider-service.ts';
import { SERVICES } from '../../../../media/engines/provider/services.ts';
import { createAddressGuard } from '../../../../media/net/address-guard.ts';
import { openGuardedSocket } from '../../../../media/net/guarded-socket.ts';
import { createGuardedStreams } from '../../../../media/net/guarded-stream.ts';

export const CANARY = 'sk-canary-0123456789abcdef';

export function grantOf(change: Partial<ConnectionGrant> = {}): ConnectionGrant {
  return {
    name: 'main',
    version: 3,
    provider: 'openai_compatible',
    baseUrl: 'https://api.example.com/v1',
    credentials: { apiKey: CANARY },
    limits: {},
    settings: {},
    ...change,
  };
}

export function providerHarness({
  services = SERVICES,
  clock = systemClock,
  ca,
}: {
  services?: readonly ServiceKind[];
  clock?: Clock;
  ca?: string;
} = {}) {
  const told: FromProviderThread[] = [];
  const guarded = { guard: createAddressGuard(['127.0.0.0/8']), clock, ...(ca === undefined ? {} : { ca }) };
  const streams = createGuardedStreams(guarded);
  const desk = new ProviderDesk({
    clock,
    log: pino({ level: 'silent' }),
    streams,
    openSocket: (request, listener) => openGuardedSocket(request, guarded, listener),
    services,
    threads: 1,
    tell: (message) => told.push(message),
  });
  const ports: MessagePort[] = [];
  const connect = (): MessagePort => {
    const { port1, port2 } = new MessageChannel();
    ports.push(port2);
    desk.told({ type: 'client', port: port1 });
    return port2;
  };
  return {
    desk,
    connect,
    told,
    /** As `usage` of one unit: `output_tokens 5`, with a mark where it is speculative. */
    usage: () =>
      told.flatMap((message) =>
        message.type === 'usage'
          ? message.lines.map(({ unit, quantity, speculative }) => `${unit} ${quantity}${speculative ? ' ~' : ''}`)
          : [],
      ),
    grant: (callUuid: string, ...grants: ConnectionGrant[]) => desk.told({ type: 'grant', callUuid, grants }),
    close(): void {
      for (const port of ports) port.close();
      streams.close();
    },
  };
}

export type ProviderHarness = ReturnType<typeof providerHarness>;

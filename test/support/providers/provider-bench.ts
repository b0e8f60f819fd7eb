/**
 * A provider thread in a test, without a thread: its desk over a message channel, on a virtual clock, with sockets and
 * streams that the test gives. What a pipeline thread holds is `port`.
 */
import { MessageChannel } from 'node:worker_threads';
import { pino } from 'pino';
import type { CallUse } from '../../../media/contract/engine-kinds.ts';
import type { ConnectionGrant } from '../../../media/contract/grant.ts';
import type { FromProviderThread } from '../../../media/contract/thread-messages.ts';
import { ProviderDesk } from '../../../media/engines/provider/provider-desk.ts';
import type { ServiceDeps } from '../../../media/engines/provider/provider-service.ts';
import { SERVICES } from '../../../media/engines/provider/services.ts';
import type { VirtualClock } from '../virtual-clock.ts';

export const CALL = 'call-1';
export const KEY = 'key-of-the-workspace';

export function grantOf(provider: string, change: Partial<ConnectionGrant> = {}): ConnectionGrant {
  return {
    name: provider,
    version: 1,
    provider,
    baseUrl: 'https://provider.test',
    credentials: { apiKey: KEY },
    limits: {},
    settings: {},
    ...change,
  };
}

export function useOf(connection: string, settings: CallUse['settings'] = {}, callUuid = CALL): CallUse {
  return { callUuid, connection, settings };
}

const nothing = (): never => {
  throw new Error('this test gives no such way out');
};

// Virtual time passes sooner than a module is loaded.
await Promise.all(SERVICES.map((service) => service.load()));

export function providerBench(clock: VirtualClock, deps: Partial<ServiceDeps>, grants: readonly ConnectionGrant[]) {
  const told: FromProviderThread[] = [];
  const desk = new ProviderDesk({
    clock,
    log: pino({ level: 'silent' }),
    streams: { open: nothing, warm: nothing, close() {} },
    openSocket: nothing,
    ...deps,
    services: SERVICES,
    threads: 1,
    tell: (message) => told.push(message),
  });
  const ports: MessageChannel[] = [];
  let isClosed = false;
  const newPort = () => {
    const channel = new MessageChannel();
    ports.push(channel);
    desk.told({ type: 'client', port: channel.port1 });
    return channel.port2;
  };
  desk.told({ type: 'grant', callUuid: CALL, grants });
  return {
    desk,
    told,
    port: newPort(),
    newPort,
    /** Messages cross, and 20 ms pass. */
    async step(): Promise<void> {
      for (let i = 0; i < 4; i++) await new Promise((resolve) => setImmediate(resolve));
      clock.advanceMs(20);
      for (let i = 0; i < 4; i++) await new Promise((resolve) => setImmediate(resolve));
    },
    /** Virtual time passes by itself, until `close`. */
    run(): void {
      void (async () => {
        while (!isClosed) await this.step();
      })();
    },
    close(): void {
      isClosed = true;
      for (const { port1, port2 } of ports) {
        port1.close();
        port2.close();
      }
    },
  };
}

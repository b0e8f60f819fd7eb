/**
 * One gateway under siege, or left in peace: starts it, lets honest clients work beside the attack, and hands back what
 * became of them. The test counts with it, the bench measures.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { AgentDefinition } from '../../media/contract/agent-definition.ts';
import type { PersonaInput } from '../emulators/persona.ts';
import type { Gateway } from '../harness/gateway.ts';
import { makeWebAccess, type WebAccess } from '../live-client/web-access.ts';
import { besiegeWithFiles, HOSTILE_FILES, strangersKey } from './csv.ts';
import { type HonestTally, honestTraffic } from './honest-clients.ts';
import { besiege, loopbackAddresses, type Siege, type SiegeOptions } from './slow-clients.ts';
import { hoardTokens } from './tokens.ts';

export const siegeAgent: AgentDefinition = { kind: 'tone', name: 'Tone', direction: 'any', toneHz: 440 };

/** Phones that are answered at once and hang up by themselves. */
export function siegePersonas(talkMs: number): PersonaInput[] {
  return [{ kind: 'tone', name: 'caller', number: '*', ringMs: 200, hangsUpAfterMs: talkMs }];
}

/** What attacks have in common. */
type Attack = Pick<Siege, 'opened' | 'ends' | 'stop'>;

/** Begins an attack on a gateway, whose website has this access. */
export type Attacker = (gateway: Gateway, access: WebAccess) => Promise<Attack>;

export interface SiegeRun {
  tally: HonestTally;
  /** Null: there was none. */
  siege: Pick<Attack, 'opened' | 'ends'> | null;
}

export interface SiegeRunOptions {
  gateway: Gateway;
  /** Null: honest clients alone. */
  attack: Attacker | null;
  forMs: number;
  calls: number;
}

/** Until most of the attack stands. */
const FORMS_UP_MS = 1_000;
const PAGE = 'http://localhost:3000';

const portOf = ({ service }: Gateway): number => Number(new URL(service.publicUrl).port);

/** Much is opened, and little said. */
export function slowClients(options: Omit<SiegeOptions, 'port'>): Attacker {
  return async (gateway) => besiege({ ...options, port: portOf(gateway) });
}

/** Tokens of the website's sessions, from many addresses, never used: fewer than its key may ask for in a minute. */
export function hoardedTokens(count: number): Attacker {
  return async (gateway, { publicKey, agentId }) =>
    hoardTokens({
      port: portOf(gateway),
      publicKey,
      agentId,
      origin: PAGE,
      sources: loopbackAddresses(count),
      inAll: count,
    });
}

/** Files of leads that are hard to read, from another workspace. */
export function hostileFiles(bounds: { atOnce: number; inAll: number }): Attacker {
  return async ({ service }) => {
    const files = Object.values(HOSTILE_FILES).map((make) => make());
    const apiKey = await strangersKey(service.databaseUrl);
    return besiegeWithFiles({ ...bounds, files, apiKey, baseUrl: service.publicUrl });
  };
}

export async function runSiege({ gateway, attack, forMs, calls }: SiegeRunOptions): Promise<SiegeRun> {
  const { service, enterprise } = gateway;
  const access = await makeWebAccess(
    { baseUrl: service.publicUrl, databaseUrl: service.databaseUrl, enterprise },
    siegeAgent,
    PAGE,
  );
  const siege = attack === null ? null : await attack(gateway, access);
  try {
    await wait(FORMS_UP_MS);
    const tally = await honestTraffic({
      gateway,
      token: () => access.token(),
      forMs,
      calls,
      numberOf: (index) => `+1415555${String(index).padStart(4, '0')}`,
    });
    return { tally, siege };
  } finally {
    await siege?.stop();
  }
}

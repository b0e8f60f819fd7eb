/**
 * The names under which limits stand in both stores. Those of call slots are known to the
 * function of migration 0006 too.
 */
import { addressName } from '../../media/contract/address-name.ts';
import type { CallScope } from './call-limit-settings.ts';

export const slotNames = {
  /** Active calls of a workspace, phone and web. */
  workspaceCalls: (workspaceId: string): string => `calls:${workspaceId}`,
  lineCalls: ({ workspaceId, lineId }: CallScope): string => `calls:${workspaceId}:${lineId}`,
  webSessions: (workspaceId: string): string => `web:${workspaceId}`,
  embedAddress: (address: string): string => `embed:address:${addressName(address)}`,
};

export const rateNames = {
  apiKey: (keyId: string): string => `api:key:${keyId}`,
  failedAuth: (address: string): string => `auth:address:${addressName(address)}`,
  failedAuthOfKey: (keyId: string): string => `auth:key:${keyId}`,
  person: (userId: string): string => `console:user:${userId}`,
  signInAddress: (address: string): string => `signin:address:${addressName(address)}`,
  /** `named`: a hash of the e-mail address. */
  signInPersonThere: (named: string, address: string): string => `signin:person:${named}:${addressName(address)}`,
  signInPerson: (named: string): string => `signin:person:${named}`,
  signInCode: (userId: string): string => `signin:code:${userId}`,
  workspaceCalls: (workspaceId: string): string => `cps:workspace:${workspaceId}`,
  lineCalls: (lineId: string): string => `cps:line:${lineId}`,
  /** When the next call of the line may be sent to the carrier. */
  linePace: (lineId: string): string => `pace:line:${lineId}`,
  embedAddress: (address: string): string => `embed:address:${addressName(address)}`,
  embedKey: (publicKey: string): string => `embed:key:${publicKey.slice(0, 128)}`,
};

/**
 * Where a sealed value lies: table, workspace and row, which are sealed with it, so that it opens nowhere else. Every
 * kind of sealed value has its line here, and one in `sealed-columns.ts`, by which rotation finds it. Ids are written
 * as PostgreSQL writes them.
 */
export interface SealedPlace {
  readonly table: SealedTable;
  /** Null: it belongs to no workspace. */
  readonly workspaceId: string | null;
  readonly row: readonly string[];
}

export type SealedTable =
  | 'phone_lines'
  | 'webhook_endpoints'
  | 'embed_signing_keys'
  | 'call_recordings'
  | 'model_endpoints'
  | 'provider_connections'
  | 'workspace_secrets'
  | 'clips'
  | 'users'
  | 'idempotency_keys';

const place = (table: SealedTable, workspaceId: string | null, ...row: string[]): SealedPlace => ({
  table,
  workspaceId,
  row,
});

export const sealedPlace = {
  /** A line's former credentials, in `past_line_credentials`, stay bound to the line. */
  lineCredentials: (workspaceId: string, lineId: string) => place('phone_lines', workspaceId, lineId),
  /** The newest and the one before: a workspace has one endpoint. */
  webhookSecret: (workspaceId: string) => place('webhook_endpoints', workspaceId, workspaceId),
  embedSigningKey: (kid: string) => place('embed_signing_keys', null, kid),
  recordingKey: (at: { workspaceId: string; callUuid: string; epoch: number }) =>
    place('call_recordings', at.workspaceId, at.callUuid, String(at.epoch)),
  /**
   * Of a model endpoint of a former version; it lies in `provider_connections` now, and stays bound to where it was.
   */
  modelKey: (workspaceId: string) => place('model_endpoints', workspaceId, workspaceId),
  connectionCredentials: (at: { workspaceId: string; name: string; version: number }) =>
    place('provider_connections', at.workspaceId, at.name, String(at.version)),
  toolSecret: (workspaceId: string, name: string) => place('workspace_secrets', workspaceId, name),
  /** Of a person, who belongs to no workspace. */
  oneTimePassword: (userId: string) => place('users', null, userId),
  clipKey: (workspaceId: string, clipId: string) => place('clips', workspaceId, clipId),
  /** What a request with an `Idempotency-Key` was answered, where that shows a secret. */
  storedAnswer: (at: { workspaceId: string; methodPath: string; key: string }) =>
    place('idempotency_keys', at.workspaceId, at.methodPath, at.key),
};

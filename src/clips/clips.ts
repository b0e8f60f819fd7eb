/**
 * Clips of a workspace: a file that was sent becomes an encrypted sound with a name; agents play it; it goes away when
 * none does any more. Used by the API and the command line; calls get theirs by `forCall`.
 */
import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import { v7 as uuidv7 } from 'uuid';
import type { AgentDefinition } from '../../media/contract/agent-definition.ts';
import type { CallClips, ClipFile } from '../../media/contract/clip.ts';
import { type Clock, pause } from '../../media/contract/clock.ts';
import type { ChangedBy } from '../audit/audit-entry.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { OperatorError } from '../errors/operator-error.ts';
import type { Stores } from '../recordings/open-stores.ts';
import { openDataKey } from '../recordings/recording-keys.ts';
import { sealedPlace } from '../sealing/sealed-places.ts';
import type { Sealer } from '../sealing/sealer.ts';
import type { Database, Queryable } from '../store/database.ts';
import { type AgentUse, agentsThatUse, clipCalled, clipsNamedIn } from './agent-clips.ts';
import { createClipFiles } from './clip-files.ts';
import {
  type Clip,
  ClipNameTaken,
  type ClipRow,
  clipRemoved,
  clipsOfAgent,
  findClip,
  forgetClip,
  insertClip,
  listClips,
  removableClips,
} from './clip-rows.ts';
import type { ConvertFile } from './convert-file.ts';

/** The file becomes no clip; the message is for whoever sent it. */
export class ClipFileRefused extends OperatorError {
  readonly problem: string;

  constructor(problem: string) {
    super('invalid', `The file is no clip: ${problem}.`);
    this.problem = problem;
  }
}

/** An agent plays it. */
export class ClipInUse extends OperatorError {
  constructor(name: string, uses: readonly AgentUse[]) {
    const agents = uses.map((use) => `'${use.name}' (${use.agentId})`).join(', ');
    super(
      'refused',
      `The clip '${name}' is played by ${agents}; change what ${uses.length === 1 ? 'it says' : 'they say'} first.`,
    );
  }
}

export interface NewClip {
  workspaceId: string;
  name: string;
  /** What it says; may be empty. */
  text: string;
  file: Uint8Array;
  by: ChangedBy;
}

export interface Clips {
  /** Rejects with an `OperatorError`, `ClipsBusy` or a `StoreFault`. One transaction of `database` makes it. */
  add(database: Database, clip: NewClip): Promise<Clip>;
  list(workspaceId: string): Promise<Clip[]>;
  read(workspaceId: string, named: string): Promise<(Clip & { usedBy: AgentUse[] }) | undefined>;
  /** The WAV; undefined without such a clip. */
  sound(workspaceId: string, named: string): Promise<ClipSound | undefined>;
  /** What it was; undefined without such a clip. Rejects with `ClipInUse`. */
  remove(args: { workspaceId: string; named: string; by: ChangedBy }): Promise<Clip | undefined>;
  /**
   * What the agent's definition names, on this machine. Never rejects: the agent speaks the text of what is not there.
   */
  forCall(agentId: string, definition: AgentDefinition): Promise<CallClips | undefined>;
  /** Removes encrypted bytes that an earlier attempt could not. */
  sweep(): Promise<void>;
}

export interface ClipSound {
  name: string;
  sizeBytes: number;
  sha256: string;
  pieces: AsyncGenerator<Buffer, void, undefined>;
}

export interface ClipsDeps {
  database: Database;
  clock: Clock;
  log: Logger;
  sealer: Sealer;
  stores: Stores;
  /** Absolute. */
  dataDir: string;
  convert: ConvertFile;
}

export const CLIP_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const MOST_CLIPS = 200;
const DATA_KEY_BYTES = 32;
const REMOVE_AGAIN_MS = 60_000;
const REMOVED_AT_ONCE = 20;
/** A store that is away must not keep a call waiting. */
const CALL_WAITS_MS = 1_000;

export function createClips(deps: ClipsDeps): Clips {
  const { database, clock, log, sealer } = deps;
  const files = createClipFiles(deps.stores, deps.dataDir);

  async function mustBeNew(workspaceId: string, name: string): Promise<void> {
    if (!CLIP_NAME.test(name) || UUID.test(name)) {
      throw new OperatorError(
        'invalid',
        `'${name}' cannot be a clip's name: 1 to 64 letters, digits, ., _ or -, a letter or digit first, and no UUID.`,
      );
    }
    const clips = await listClips(database, workspaceId);
    if (clips.some((clip) => clip.name === name)) throw taken(name);
    if (clips.length >= MOST_CLIPS) {
      throw new OperatorError('refused', `A workspace has at most ${MOST_CLIPS} clips; remove one first.`);
    }
  }

  async function removeBytes(): Promise<void> {
    for (const clip of await removableClips(database, new Date(clock.epochMs()), REMOVED_AT_ONCE)) {
      try {
        await files.remove(clip);
        await clipRemoved(database, clip.id, null);
      } catch (error) {
        log.warn({ clipId: clip.id, err: error }, 'a deleted clip’s sealed bytes are still to be removed');
        await clipRemoved(database, clip.id, new Date(clock.epochMs() + REMOVE_AGAIN_MS));
      }
    }
  }

  async function fileOf(row: ClipRow): Promise<ClipFile> {
    const path = await files.local(row);
    const keyHex = openDataKey(sealer, row.keySealed, sealedPlace.clipKey(row.workspaceId, row.id)).toString('hex');
    return { clipId: row.id, path, keyHex, durationMs: row.durationMs };
  }

  return {
    async add(once, { workspaceId, name, text, file, by }) {
      await mustBeNew(workspaceId, name);
      const verdict = await deps.convert(file, workspaceId);
      if (!verdict.ok) throw new ClipFileRefused(verdict.problem);
      const { wav, durationMs, loudnessLufs, kind } = verdict;
      const id = uuidv7();
      const dataKey = randomBytes(DATA_KEY_BYTES);
      const stored = await files.put(workspaceId, id, wav, dataKey);
      const sound = { kind, durationMs, loudnessLufs, sizeBytes: wav.length };
      try {
        return await once.transaction(async (tx) => {
          const keySealed = sealer.seal(dataKey.toString('hex'), sealedPlace.clipKey(workspaceId, id));
          const clip = await insertClip(tx, workspaceId, { id, name, text, ...sound, ...stored, keySealed });
          const after = { name, durationMs, kind };
          await recordAudit(tx, { workspaceId, by, action: 'clip.created', target: `clip:${id}`, before: null, after });
          return clip;
        });
      } catch (error) {
        await files.remove({ id, ...stored }).catch(() => {});
        throw error instanceof ClipNameTaken ? taken(name) : error;
      }
    },

    list: (workspaceId) => listClips(database, workspaceId),

    async read(workspaceId, named) {
      const row = await findClip(database, workspaceId, named);
      return row && { ...shown(row), usedBy: await agentsThatUse(database, workspaceId, row) };
    },

    async sound(workspaceId, named) {
      const row = await findClip(database, workspaceId, named);
      if (row === undefined) return undefined;
      const dataKey = openDataKey(sealer, row.keySealed, sealedPlace.clipKey(row.workspaceId, row.id));
      const { name, sizeBytes, sha256 } = row;
      return { name, sizeBytes, sha256, pieces: files.sound(row, dataKey) };
    },

    async remove({ workspaceId, named, by }) {
      const removed = await database.transaction(async (tx) => {
        const clip = await lockedClip(tx, workspaceId, named);
        if (clip === undefined) return undefined;
        const uses = await agentsThatUse(tx, workspaceId, clip);
        if (uses.length > 0) throw new ClipInUse(clip.name, uses);
        await forgetClip(tx, workspaceId, clip.id, new Date(clock.epochMs()));
        const before = { name: clip.name, durationMs: clip.durationMs, kind: clip.kind };
        const target = `clip:${clip.id}`;
        await recordAudit(tx, { workspaceId, by, action: 'clip.deleted', target, before, after: null });
        return shown(clip);
      });
      if (removed !== undefined) await removeBytes();
      return removed;
    },

    async forCall(agentId, definition) {
      const called = [...new Set(clipsNamedIn(definition).map(({ clip }) => clip))];
      if (called.length === 0) return undefined;
      const found: Record<string, ClipFile> = {};
      const looking = (async () => {
        const rows = await clipsOfAgent(database, agentId, called);
        const take = async (name: string): Promise<void> => {
          const row = clipCalled(rows, name);
          if (row === undefined) return;
          try {
            found[name] = await fileOf(row);
          } catch (error) {
            log.warn({ agentId, clipId: row.id, err: error }, 'a clip cannot be had; the agent will speak its text');
          }
        };
        await Promise.all(called.map(take));
      })();
      await Promise.race([
        looking.catch((error: unknown) => log.warn({ agentId, err: error }, 'clips could not be looked up')),
        pause(clock, CALL_WAITS_MS),
      ]);
      return { ...found };
    },

    sweep: removeBytes,
  };
}

/** Waits for agents that are being stored with it; they wait for this. */
async function lockedClip(tx: Queryable, workspaceId: string, named: string): Promise<ClipRow | undefined> {
  const clip = await findClip(tx, workspaceId, named);
  if (clip === undefined) return undefined;
  const locked = await tx.query('SELECT 1 AS one FROM clips WHERE id = $1 AND deleted_at IS NULL FOR UPDATE', [
    clip.id,
  ]);
  return locked.length === 0 ? undefined : clip;
}

function shown({ id, name, text, kind, durationMs, loudnessLufs, sizeBytes, createdAt }: ClipRow): Clip {
  return { id, name, text, kind, durationMs, loudnessLufs, sizeBytes, createdAt };
}

function taken(name: string): OperatorError {
  return new OperatorError('exists', `There is a clip '${name}' already; choose another name, or remove that one.`);
}

/**
 * Files on their way, over a real socket: what they may hold of control's memory, and that it
 * comes back however they end.
 */
import { EventEmitter, once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { finished, PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CLIPS_PATH } from '../../../src/api/clips/clip-routes.ts';
import { IMPORT_PATH } from '../../../src/api/leads/import-routes.ts';
import { UploadRoom } from '../../../src/api/upload-room.ts';
import { eventually } from '../../support/eventually.ts';
import { type ApiFixture, createApiFixture, type Tenant } from './api-fixture.ts';

const MIB = 1024 * 1024;
const FIVE_MIB = { 'content-length': 5 * MIB };
const CSV = 'text/csv';
const FORM = 'multipart/form-data; boundary=parts';
const HALF: Readonly<Record<string, string>> = {
  [CSV]: 'phone\n+14155',
  [FORM]: '--parts\r\ncontent-disposition: form-data; name="file"; filename="a.wav"\r\n\r\nRIFF',
};

let api: ApiFixture;
const folder = mkdtempSync(join(tmpdir(), 'parley-uploads-'));
const socketPath = join(folder, 'api.sock');
/** Requests whose body was begun to be read, and those of them that are over. */
let begun = 0;
let ended = 0;
let open: Upload[] = [];

interface Upload {
  sent: ClientRequest;
  answer: IncomingMessage | null;
}

beforeAll(async () => {
  api = await createApiFixture();
  api.app.addHook('preParsing', async (_request, reply) => {
    begun++;
    finished(reply.raw, () => ended++);
  });
  await api.app.listen({ path: socketPath });
});
afterEach(abortAll);
afterAll(async () => {
  await api.close();
  rmSync(folder, { recursive: true, force: true });
});

async function abortAll(): Promise<void> {
  for (const { sent } of open) sent.destroy();
  open = [];
  await eventually('the end of all uploads', () => begun === ended);
}

/** A file that stops after some bytes; done when its body is being read or it has an answer. */
async function start(tenant: Tenant, type = CSV, headers: Record<string, string | number> = FIVE_MIB): Promise<Upload> {
  const before = begun;
  const sent = request({
    socketPath,
    method: 'POST',
    path: type === CSV ? IMPORT_PATH : CLIPS_PATH,
    headers: { authorization: `Bearer ${tenant.key}`, 'content-type': type, ...headers },
    agent: false,
  });
  const upload: Upload = { sent, answer: null };
  sent.on('error', () => {});
  sent.on('response', (answer: IncomingMessage) => {
    upload.answer = answer;
  });
  sent.write(HALF[type]);
  open.push(upload);
  await eventually('the upload to be read or refused', () => begun > before || upload.answer !== null);
  return upload;
}

async function startMany(count: number, ...args: Parameters<typeof start>): Promise<(number | null)[]> {
  const codes: (number | null)[] = [];
  for (let one = 0; one < count; one++) codes.push((await start(...args)).answer?.statusCode ?? null);
  return codes;
}

/** A small file that is whole. */
async function whole(tenant: Tenant): Promise<number> {
  const payload = 'phone\n+14155550123\n';
  const headers = { authorization: `Bearer ${tenant.key}`, 'content-type': CSV };
  return (await api.app.inject({ method: 'POST', url: IMPORT_PATH, headers, payload })).statusCode;
}

const reading = (count: number): null[] => new Array(count).fill(null);

describe('files that stop half way', () => {
  it.each([
    [CSV, FORM],
    [FORM, CSV],
  ])(
    'of %s take the room of their own workspace: its ninth is refused, another workspace has its own',
    async (type, next) => {
      expect(await startMany(8, api.acme, type)).toEqual(reading(8));
      for (const ninth of [type, next]) {
        const { answer } = await start(api.acme, ninth);
        expect(answer?.statusCode).toBe(503);
        expect(answer!.headers).toMatchObject({ 'x-error-code': 'overloaded', 'retry-after': '5' });
        expect(JSON.parse(await text(answer!))).toMatchObject({ message: 'Service temporarily unavailable' });
      }
      expect(await whole(api.acme)).toBe(503);
      expect(await startMany(1, api.other, type)).toEqual(reading(1));
      expect(await whole(api.other)).toBe(202);

      open[0]!.sent.destroy();
      await eventually('the end of the aborted one', () => begun - ended === 8);
      expect(await startMany(2, api.acme, type)).toEqual([null, 503]);
      await abortAll();
      expect(await startMany(9, api.acme, type)).toEqual([...reading(8), 503]);
    },
  );

  it('may have all that a file may have where they do not say their length', async () => {
    expect(await startMany(5, api.acme, CSV, {})).toEqual([...reading(4), 503]);
  });
});

it('files that are refused when they were let in give their bytes back', async () => {
  const payload = Buffer.alloc(5 * MIB);
  const headers = { authorization: `Bearer ${api.acme.key}`, 'content-type': 'text/plain' };
  for (let one = 0; one < 9; one++) {
    const answer = await api.app.inject({ method: 'POST', url: IMPORT_PATH, headers, payload });
    expect(answer.headers['x-error-code']).toBe('unsupported_import_type');
  }
});

describe('the room', () => {
  const enter = async (room: UploadRoom, workspaceId: string) => {
    const asked = { headers: {}, principal: { workspaceId } } as unknown as FastifyRequest;
    const raw = new PassThrough();
    raw.on('error', () => {});
    await room.enter(10 * MIB).call(api.app, asked, { raw } as unknown as FastifyReply);
    return { asked, raw: raw.resume() };
  };
  const refused = expect.objectContaining({ code: 'overloaded', headers: { 'retry-after': '5' } });

  it('of all workspaces together has an end, and is empty when each of them was answered or went away', async () => {
    const room = new UploadRoom();
    const entered = [];
    for (let one = 0; one < 16; one++) entered.push(await enter(room, `workspace ${one >> 2}`));
    expect(room.bytes).toBe(160 * MIB);
    await expect(enter(room, 'one more')).rejects.toEqual(refused);
    for (const [index, { raw }] of entered.entries()) index % 2 === 0 ? raw.end() : raw.destroy();
    await eventually('an empty room', () => room.bytes === 0);
    for (const { raw } of entered) raw.destroy();
    await enter(room, 'one more');
    expect(room.bytes).toBe(10 * MIB);
  });

  it('is held while a handler has the body, also when its client has gone, and none begins after that', async () => {
    const room = new UploadRoom();
    const { asked, raw } = await enter(room, 'acme');
    const signal = new EventEmitter();
    const working = room.during(asked, async () => {
      await once(signal, 'fail');
      throw new Error('it failed');
    });
    raw.destroy();
    await once(raw, 'close');
    expect(room.bytes).toBe(10 * MIB);
    signal.emit('fail');
    await expect(working).rejects.toThrow('it failed');
    expect(room.bytes).toBe(0);
    await expect(room.during(asked, async () => 'done')).rejects.toEqual(refused);
    expect(room.bytes).toBe(0);
  });
});

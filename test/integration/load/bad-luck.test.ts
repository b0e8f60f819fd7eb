/**
 * The load tester against voice bots that are not there, break, answer garbage or say no, and on machines that are too
 * small: how the program ends, what it says, and that no call is left. The bots are programs of their own.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { type BotProcess, startBotProcess } from '../../support/bots/bot-process.ts';
import { eventually } from '../../support/eventually.ts';
import { refuseBench, runBench, writeBurst } from '../../support/load-tester.ts';

const folder = mkdtempSync(join(tmpdir(), 'parley-load-luck-'));
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const PHONE = { name: 'phone', ringSeconds: 0.1, lengthSeconds: 2, talk: { kind: 'on-off' } };
/** How late the tool is on a busy machine is not what these are about. */
const UNHURRIED = ['--limit-ms', '10000'];

interface Asked {
  calls?: number;
  lengthSeconds?: number;
  ringSeconds?: number;
  mayFail?: boolean;
  restSeconds?: number;
}
let files = 0;
/** Options of a run whose calls are half a second apart. */
function calls({ calls = 4, mayFail = false, restSeconds = 0, ...phone }: Asked = {}): string[] {
  const burst = { calls, overSeconds: calls / 2, callers: [{ ...PHONE, ...phone }], mayFail, restSeconds };
  return ['--workload', writeBurst(folder, `workload-${files++}`, burst), ...UNHURRIED];
}

/** `signal`: what strikes it when its second stream has begun. */
async function bot(carrier: 'plivo' | 'twilio', signal: NodeJS.Signals | null = null): Promise<BotProcess> {
  const started = await startBotProcess(carrier, signal);
  ends.push(() => started.end());
  return started;
}

const twilio = (address: string): string[] => ['--protocol', 'twilio', '--stream', address];

async function listening(server: Server): Promise<string> {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  ends.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('nobody is called where a run could not begin', () => {
  test.each([
    [twilio('ws://127.0.0.1:9/media'), /nothing listens at ws:\/\/127.0.0.1:9\/media: start the bot, or mend --stream/],
    [twilio('wss://bot.example.com/media'), /bot.example.com is not this machine: .*--i-may-load-this-target/],
    [['--answer-url', 'https://bot.example.com/voice'], /--i-may-load-this-target/],
    [twilio('http://127.0.0.1:9/media'), /--stream http:.*begins with ws:\/\/ or wss:\/\//],
    [[...twilio('ws://127.0.0.1:9'), '--answer-url', 'http://127.0.0.1:9'], /--stream and --answer-url: a run has one/],
    [['--stream', 'ws://127.0.0.1:9', '--protocol', 'smoke'], /--protocol smoke: take one of plivo, twilio/],
    [['--answer-url', 'http://127.0.0.1:9', '--answer-method', 'PUT'], /--answer-method PUT: take one of POST, GET/],
    [[...twilio('ws://127.0.0.1:9'), '--header', 'none'], /--header none: write name:value/],
    [[...twilio('ws://127.0.0.1:9'), '--parameter', 'none'], /--parameter none: write name=value/],
  ])('%s', async (options, expected) => {
    const { code, said, shown, result } = await refuseBench(folder, [...options, ...calls()]);
    expect(said).toMatch(expected);
    expect([code, shown, result]).toEqual([2, '', null]);
  });

  test('as a program of its own', async () => {
    const { code, said, shown, result } = await runBench(folder, [...twilio('ws://127.0.0.1:9/media'), ...calls()]);
    expect(said).toMatch(/nothing listens at ws:/);
    expect([code, shown, result]).toEqual([2, '', null]);
  });

  test('a folder for results that cannot be written', async () => {
    const file = join(folder, 'a-file');
    writeFileSync(file, '');
    const options = [...twilio('ws://127.0.0.1:9'), ...calls(), '--out', `${file}/run`];
    const { code, said } = await refuseBench(folder, options);
    expect(said).toMatch(/--out .*\/run: cannot be written to \(ENOTDIR.*\); name another folder/);
    expect(code).toBe(2);
  });

  test('a folder for sound that cannot be written', async () => {
    const options = { environment: { TMPDIR: join(folder, 'nowhere') } };
    const { code, said } = await runBench(folder, [...twilio('ws://127.0.0.1:9'), ...calls()], options);
    expect(said).toMatch(/cannot be written to \(ENOENT.*\); set TMPDIR to another folder, or say --no-sound/);
    expect(code).toBe(2);
  });

  test.skipIf(process.platform !== 'linux').each([
    [64, /^the load tester needs 400 file descriptors before its first call, .* allows 64: .*`ulimit -n 1024`\n$/],
    [300, /^4 calls at once need 408 file descriptors .* allows 300: raise the limit with `ulimit -n 408`\n$/],
  ])('too few file descriptors: %i', async (limit, expected) => {
    const under = ['bash', '-c', `ulimit -n ${limit}; exec "$@"`, 'bash'];
    const { code, said } = await runBench(folder, [...twilio('ws://127.0.0.1:9'), ...calls()], { under });
    expect(said).toMatch(expected);
    expect(code).toBe(2);
  });

  test.each([
    [
      '<Response><Connect><Stream url="wss://bot.example.com/x"/></Connect></Response>',
      /leads to bot.example.com, which/,
    ],
    ['<Response><Redirect>https://bot.example.com/x</Redirect></Response>', /leads to bot.example.com.*--i-may-load/],
    ['<Response><Connect><Stream url="wss://["/></Connect></Response>', /leads to "wss:\/\/\[", no address/],
    ['<!doctype html><title>It works!</title>', /is none that the carrier follows/],
    ['{"success":true}', /is none that the carrier follows/],
  ])('a document that says %s', async (document, expected) => {
    const host = await listening(createServer((_request, response) => response.end(document)));
    const options = ['--protocol', 'twilio', '--answer-url', `http://${host}/voice`];
    const { code, said, result } = await refuseBench(folder, [...options, ...calls()]);
    expect(said).toMatch(expected);
    expect([code, result]).toEqual([2, null]);
  });

  test('a server that knows no WebSocket, and one that is no HTTP server', async () => {
    const web = createServer();
    web.on('upgrade', (_request, socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n<html>'));
    const page = await refuseBench(folder, [...twilio(`ws://${await listening(web)}/`), ...calls()]);
    expect([page.code, page.said]).toEqual([2, expect.stringMatching(/answered the upgrade with 200: .*no WebSocket/)]);

    const other = createTcpServer((socket) => socket.end('220 mail.example.com ESMTP\r\n'));
    await new Promise<void>((done) => other.listen(0, '127.0.0.1', done));
    ends.push(() => other.close());
    const address = `ws://127.0.0.1:${(other.address() as AddressInfo).port}/`;
    const mail = await refuseBench(folder, [...twilio(address), ...calls()]);
    expect([mail.code, mail.said]).toEqual([2, expect.stringContaining(`the connection to ${address} failed: Parse`)]);
  });
});

describe('a bot that breaks in the middle of a run', () => {
  test('is killed: those who talk lose their stream, the others find nobody', async () => {
    const target = await bot('twilio', 'SIGKILL');
    const { code, result, shown } = await runBench(folder, [
      ...twilio(target.address),
      ...calls({ lengthSeconds: 20 }),
    ]);
    expect(result).toMatchObject({ complete: true, calls: { planned: 4, talked: 0, lost: 2, failed: 2 } });
    // On a slow machine one of the others may just be dialling it: that one is cut off.
    const { ECONNREFUSED: refused = 0, ECONNRESET: reset = 0, ...lost } = result!.calls.failedBy;
    expect([lost, refused + reset]).toEqual([{ '1006': 2 }, 2]);
    if (refused > 0) expect(shown).toMatch(/nothing\s+listens\s+at/);
    expect(code).toBe(1);
  });

  test('is gone for good: the run ends before its time, and says so', async () => {
    const target = await bot('twilio', 'SIGKILL');
    const options = calls({ calls: 200, lengthSeconds: 1 });
    const { code, result, shown } = await runBench(folder, [...twilio(target.address), ...options]);
    expect(result).toMatchObject({ complete: false });
    expect(result?.incompleteBecause).toMatch(/^the target has stopped answering: nothing listens at/);
    expect(result!.calls.planned).toBeLessThan(200);
    expect(shown).toMatch(/Incomplete: the target has stopped answering/);
    expect(code).toBe(1);
  });

  test('stands still: its calls are ended by their far ends, the others are not answered in time', async () => {
    const target = await bot('twilio', 'SIGSTOP');
    const { code, result } = await runBench(folder, [...twilio(target.address), ...calls({ lengthSeconds: 1 })]);
    target.kill('SIGCONT');
    expect(result?.calls).toMatchObject({ planned: 4, talked: 2, failed: 2, failedBy: { ETIMEDOUT: 2 } });
    expect(code).toBe(1);
    await eventually('the ends of all streams', () => target.closed === target.opened);
  });

  test('stands still, and the run is stopped: it ends all the same', async () => {
    const target = await bot('twilio', 'SIGSTOP');
    const options = calls({ lengthSeconds: 600 });
    const { code, result } = await runBench(folder, [...twilio(target.address), ...options], {
      interruptAt: / 4 begun/,
    });
    target.kill('SIGCONT');
    expect(result).toMatchObject({ complete: false, calls: { planned: 4, cut: 4 } });
    expect(code).toBe(130);
    await eventually('the ends of all streams', () => target.closed === target.opened);
  });

  test.each([
    ['text', 'hm'],
    ['a page', '<html>It works!</html>'],
    ['no message', 'null'],
    ['bytes', Buffer.alloc(160)],
    ['media of another stream', '{"event":"media","media":{"payload":12}}'],
    ['the other protocol', '{"event":"playAudio","media":{"contentType":"audio/x-l16","payload":"AAAA"}}'],
  ])('answers garbage: %s', async (_what, garbage) => {
    const web = createServer();
    new WebSocketServer({ server: web }).on('connection', (socket) => socket.on('message', () => socket.send(garbage)));
    const address = `ws://${await listening(web)}/`;
    const { code, result, shown } = await runBench(folder, [...twilio(address), ...calls({ calls: 2 })]);
    expect(result?.calls).toMatchObject({ planned: 2, failed: 2, failedBy: { protocol: 2 } });
    expect(shown).toMatch(/against\s+the\s+protocol/);
    expect(code).toBe(1);
  });

  test.each([429, 503])(
    'throttles with %i: it is counted as refused, and may be if the workload says so',
    async (status) => {
      const web = createServer();
      let upgrades = 0;
      const sockets = new WebSocketServer({ noServer: true });
      web.on('upgrade', (request, socket, head) => {
        // The check of each run, and two of its four calls come through.
        if (upgrades++ % 5 < 3) sockets.handleUpgrade(request, socket, head, () => {});
        else socket.end(`HTTP/1.1 ${status} No\r\nretry-after: 1\r\ncontent-length: 0\r\n\r\n`);
      });
      const address = `ws://${await listening(web)}/`;
      const strict = await runBench(folder, [...twilio(address), ...calls()]);
      expect(strict.result?.calls).toMatchObject({ planned: 4, talked: 2, refused: 2, refusedBy: { [status]: 2 } });
      expect(strict.code).toBe(1);
      const lenient = await runBench(folder, [...twilio(address), ...calls({ mayFail: true })]);
      expect(lenient.result?.calls).toMatchObject({ planned: 4, talked: 2, refused: 2 });
      expect(lenient.code).toBe(0);
      expect(upgrades).toBe(10);
    },
  );
});

describe('Ctrl-C', () => {
  const long = (): string[] => calls({ lengthSeconds: 600, restSeconds: 600 });

  test('once: every stream is closed in order, and what there is so far is written and marked', async () => {
    const target = await bot('twilio');
    const streamsOpen = () => eventually('its four streams', () => target.opened === 4);
    const options = { interruptAt: / 4 begun/, interruptAfter: streamsOpen };
    const { code, said, shown, result, html } = await runBench(folder, [...twilio(target.address), ...long()], options);
    expect(code).toBe(130);
    expect(said).toContain('stopping: every call is hung up (once more: at once)');
    expect(result).toMatchObject({ complete: false, incompleteBecause: 'it was stopped' });
    expect(result?.calls).toMatchObject({ planned: 4, cut: 4, failed: 0, lost: 0 });
    expect(shown).toContain('Incomplete: it was stopped. What is here covers the part before that.');
    expect(html).toBeDefined();
    await eventually('the ends of all streams', () => target.closed === 4);
    expect([target.opened, target.stopped]).toEqual([4, 4]);
  });

  // How far apart they may be is test/unit/bench/load/interrupts.test.ts's.
  test('passed on by npm comes twice at once, and is one', async () => {
    const target = await bot('twilio');
    const options = { interruptAt: / 4 begun/, signals: 2 };
    const { code, said, result } = await runBench(folder, [...twilio(target.address), ...long()], options);
    expect([code, result?.calls.cut]).toEqual([130, 4]);
    expect(said).not.toContain('stopped at once');
  });

  test('while phones ring: nobody picks up any more', async () => {
    const target = await bot('twilio');
    const options = [...twilio(target.address), ...calls({ ringSeconds: 300, restSeconds: 600 })];
    const { code, result } = await runBench(folder, options, { interruptAt: / 4 begun/ });
    expect([code, result?.calls.cut, target.opened]).toEqual([130, 4, 0]);
  });

  test('before a call began: nothing is written', async () => {
    const target = await bot('twilio');
    target.kill('SIGSTOP');
    const options = { interruptAt: /looking at the target/ };
    const { code, said, result } = await runBench(folder, [...twilio(target.address), ...long()], options);
    expect([code, result, target.opened]).toEqual([130, null, 0]);
    expect(said).toContain('stopped before a call began');
    expect(said).not.toContain('did not answer in time');
  });
});

function canMount(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  try {
    execFileSync('unshare', ['-m', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

test.skipIf(!canMount())(
  'a disk that fills: the figures are told and written elsewhere, and the code says so',
  async () => {
    const target = await bot('twilio');
    const [full, spare] = [join(folder, 'full'), join(folder, 'spare')];
    for (const one of [full, spare]) mkdirSync(one);
    const script = `mount -t tmpfs -o size=8k tmpfs ${full} && exec "$@"`;
    const under = ['unshare', '-m', 'bash', '-c', script, 'bash'];
    const options = [...twilio(target.address), ...calls(), '--out', full];
    const { code, said, shown } = await runBench(folder, options, { under, environment: { TMPDIR: spare } });
    expect(said).toMatch(/full\/load-.*\.json could not be written \(ENOSPC.*\): it is in .*spare/);
    expect(said).toMatch(/full\/load-.*\.html could not be written \(ENOSPC.*\): it is in .*spare/);
    expect(shown.match(/written: .*spare\/load-.*\.(json|html)/g)?.length).toBe(2);
    expect(code).toBe(1);
  },
);

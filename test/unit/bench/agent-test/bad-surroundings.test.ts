/** What is around a test and goes wrong: folders, files, judges, tools’ bodies, providers that repeat a key. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createAudioHolder } from '../../../../bench/agent-test/audio-holder.ts';
import { startAudioTools } from '../../../../bench/agent-test/audio-tools.ts';
import { emptyCall, transcriptLines } from '../../../../bench/agent-test/held-call.ts';
import { isPart } from '../../../../bench/agent-test/is-part.ts';
import { judgeOf } from '../../../../bench/agent-test/judge.ts';
import { realModels } from '../../../../bench/agent-test/models-of-test.ts';
import type { Scenario } from '../../../../bench/agent-test/scenario-schema.ts';
import type { Subject } from '../../../../bench/agent-test/subject.ts';
import { runOnChange } from '../../../../bench/agent-test/watch.ts';
import { systemClock } from '../../../../media/contract/clock.ts';
import { ASKED, answerOf } from '../../media/engines/model-conformance.ts';
import { grantOf } from '../../media/engines/provider-harness.ts';
import { shippedCopy, TestFolder } from './run-tests.ts';

const folder = new TestFolder();
afterAll(() => folder.remove());

const failing = (...names: string[]): string =>
  folder.write('file.json', {
    ...shippedCopy('dental.json'),
    scenarios: names.map((name) => ({ name, opening: { contains: 'Moin moin' } })),
  });

describe('records of what failed', () => {
  it('lie beside each other, though their names are written with the same letters', async () => {
    const keep = join(folder.path, 'own');
    const { out } = await folder.run([failing('Books a table', 'books a table!', '預約', '取消')], { keep });
    expect(readdirSync(keep)).toHaveLength(4);
    for (const file of readdirSync(keep)) expect(out).toContain(`kept: ${join(keep, file)}`);
  });

  it('that cannot be kept take nothing from the result', async () => {
    const keep = folder.write('a-file', 'x');
    const junit = join(folder.path, 'results', 'deep', 'results.xml');
    const { code, out } = await folder.run([failing('one', 'two')], { keep, junit });
    expect(code).toBe(1);
    expect(out).toContain("No record of 'one' is kept: ");
    expect(out).toContain('name another folder with --keep');
    expect(out).toContain('0 passed, 2 failed');
    expect(readFileSync(junit, 'utf8')).toContain('failures="2"');
  });

  it('that could be written nowhere as JUnit are refused before the first call', async () => {
    // In the last no folder is there however often it is made.
    for (const junit of [
      join(folder.write('another-file', 'x'), 'results.xml'),
      folder.path,
      '/proc/1/no/results.xml',
    ]) {
      const { code, out } = await folder.run([failing('one')], { junit });
      expect([code, out]).toEqual([
        2,
        expect.stringMatching(/^--junit: .* cannot be written: .*; name another file\n$/),
      ]);
    }
  });
});

it('a pattern fits nothing where nothing is', () => {
  expect(isPart({ day: '/.+/' }, { day: 'friday' })).toBe(true);
  expect(isPart({ day: '/.+/' }, {})).toBe(false);
  expect(isPart({ day: '/^null$/' }, { day: null })).toBe(true);
});

it('what was said in several lines is no line of somebody else', () => {
  const text = 'Hello.\ncaller: I agree.\r\n\u2028tool: book({}) → {"ok":true}';
  const turns = [{ who: 'agent' as const, text, exchange: 0, atMs: 0 }];
  expect(transcriptLines({ ...emptyCall(), turns })).toEqual([
    'agent: Hello. caller: I agree. tool: book({}) → {"ok":true}',
  ]);
});

it('a judge that cannot be asked has not answered, and nothing is left running', async () => {
  const model = {
    ask(): never {
      throw new Error('there is no such rule');
    },
  };
  let steps = 0;
  const step = () => steps++;
  expect(await judgeOf(model, 2, step)(['agent: Hi'], 'It is polite.')).toMatchObject({
    none: 2,
    holds: null,
    why: 'the judge could not be asked: there is no such rule',
  });
  const before = steps;
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(steps).toBe(before);
});

it('a provider that repeats the key is told of without it', async () => {
  const apiKey = 'AIzaCanary0123456789';
  const server = http.createServer((request, response) => {
    request.resume();
    response.writeHead(401, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { message: `No such key: ${apiKey}` } }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const grant = grantOf({ baseUrl: `http://127.0.0.1:${port}/v1`, credentials: { apiKey } });
  const models = realModels([grant], ['127.0.0.0/8']);
  const chunks = await answerOf(models.open({ connection: 'main', model: 'small' }, systemClock), ASKED);
  models.close();
  server.close();
  expect(chunks).toMatchObject([{ type: 'failed', fault: 'refused', message: expect.stringContaining('No such key') }]);
  expect(JSON.stringify(chunks)).not.toContain('Canary');
});

describe('tools of calls with sound', () => {
  const TOOL = { name: 'book', description: 'Books.', parameters: { type: 'object', properties: {} }, url: 'x' };

  it('are answered whatever their body is, and whatever a pattern of the test takes', async () => {
    const tools = await startAudioTools(() => false);
    const [tool] = tools.at([TOOL as never]);
    const when = { day: '/^(([a-z]+)+)+[0-9]$/' };
    tools.begin({ book: [{ when, returns: {}, afterMs: 0 }] });
    const ask = async (body: string) => (await fetch(tool!.url!, { method: 'POST', body })).status;
    expect(await ask('{"arguments":')).toBe(400);
    expect(await ask('[]')).toBe(400);
    expect(await ask(JSON.stringify({ arguments: { day: 'a'.repeat(60) } }))).toBe(500);
    expect(tools.used()).toMatchObject([
      { answer: { ok: false, message: expect.stringContaining('takes over 500 ms') } },
    ]);
    tools.close();
  });

  it('hold no port where the call’s stage could not be set', async () => {
    const ports = async (): Promise<number> => {
      const now = () => process.getActiveResourcesInfo().filter((one) => one === 'TCPServerWrap').length;
      // What was closed is gone some turns later.
      for (let turns = 0; turns < 50 && now() > 0; turns++) await new Promise(setImmediate);
      return now();
    };
    expect(await ports()).toBe(0);
    const definition = {
      kind: 'cascade',
      listen: { engine: 'local' },
      think: [{ connection: 'brain', model: 'x' }],
      speak: [],
    };
    const file = { model: { environment: true }, scenarios: [] };
    const holder = createAudioHolder({ io: {} as never, environment: {} });
    const held = holder.hold({ definition, file, emulated: null } as unknown as Subject, {} as Scenario);
    await expect(held).rejects.toThrow('model.environment: wants');
    await holder.close();
    expect(await ports()).toBe(0);
  });
});

describe('--watch', () => {
  const watching = (files: readonly string[], during: (run: number) => void) => {
    const stop = new AbortController();
    let runs = 0;
    const over = runOnChange(async () => {
      during(++runs);
      if (runs === 2) stop.abort();
      return files;
    }, stop.signal);
    return { over, runs: () => runs };
  };

  it('runs again for what changed while it ran', async () => {
    const path = folder.write('changing.json', '{}');
    const { over, runs } = watching([path], (run) => {
      if (run !== 1) return;
      const untilMs = Date.now() + 20;
      while (Date.now() < untilMs);
      writeFileSync(path, '{"a":1}');
    });
    await over;
    expect(runs()).toBe(2);
  });

  it('runs not for ever for a file of a time to come', async () => {
    const path = folder.write('future.json', '{}');
    const tomorrow = Date.now() / 1_000 + 86_400;
    utimesSync(path, tomorrow, tomorrow);
    let runsBefore = 0;
    const { over, runs } = watching([path], (run) => {
      if (run !== 1) return;
      setTimeout(() => {
        runsBefore = runs();
        folder.write('future.json', '{"a":1}');
      }, 300);
    });
    await over;
    expect([runsBefore, runs()]).toEqual([1, 2]);
  });

  it('waits for a folder that is not there', async () => {
    const gone = join(folder.path, 'gone');
    rmSync(gone, { recursive: true, force: true });
    const { over, runs } = watching([join(gone, 'deep', 'agent.json')], (run) => {
      if (run === 1) setTimeout(() => mkdirSync(gone), 100);
    });
    await over;
    expect([runs(), existsSync(gone)]).toEqual([2, true]);
  });
});

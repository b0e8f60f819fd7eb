/** The card from a stored result: every figure where it belongs, and what was not measured says why. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { cardOf } from '../../../../bench/density/card.ts';
import { densitySchema } from '../../../../bench/density/density-result.ts';
import { NATIVE_IS_MISSING } from '../../../../bench/density/opus-builds.ts';
import { packageRoot } from '../../../../src/config/built-entry.ts';
import { densityOf, rowOf, runOf } from '../../../support/density/make-density.ts';

const HELD = { liveBytesPerCall: 44_000, residentBytesPerCall: 61_000 };

/** Of the table line that begins with a name. */
const cellsOf = (card: string, begins: string, table = 0): string[] =>
  card
    .split('\n')
    .filter((line) => line.startsWith(`| ${begins}`))
    [table]!.slice(2, -2)
    .split(' | ');

describe('the card', () => {
  test('of a stored result is what was stored beside it', () => {
    const folder = join(packageRoot(), 'test', 'support', 'density', 'stored');
    const stored = densitySchema.parse(JSON.parse(readFileSync(join(folder, 'density.json'), 'utf8')));
    expect(cardOf(stored)).toBe(readFileSync(join(folder, 'density.md'), 'utf8'));
  });

  test('has medians with their spread, calls a core, and what is full first', () => {
    const dear = runOf({ processes: [{ name: 'media-0', cpuMs: 12.5 }], commitsPerCall: 22 });
    const card = cardOf(densityOf({ rows: [rowOf({ runs: [runOf(), dear, runOf()], held: HELD })] }));
    expect(cellsOf(card, 'scripted')).toEqual([
      'scripted, local engines; mu-law 8 kHz',
      '10, of 20 s',
      '10.00 [10.00–12.50]',
      '100 [80–100]',
      '167 [80–167]',
      '44 kB',
      '400 kB',
      '20.0 [20.0–22.0]',
      '30 kB',
      '3',
      'the 2 cores, at 200 calls',
    ]);
  });

  test('counts far ends and emulators in a column of their own', () => {
    const cells = cellsOf(cardOf(densityOf()), 'scripted', 1);
    expect(cells.slice(1, 4)).toEqual(['2.00', '2.00', '6.00']);
    expect(cells.at(-1)).toBe('9.00');
  });

  test('says of a build that is not there how it comes there', () => {
    const missing = rowOf({ agent: 'web session', codec: 'Opus, native', runs: [], missingBecause: NATIVE_IS_MISSING });
    const card = cardOf(densityOf({ rows: [missing] }));
    expect(cellsOf(card, 'web session')[2]).toMatch(/not installed.*npm rebuild @discordjs\/opus/);
  });

  test('does not judge where the load tester was late in every run, and says so', () => {
    const late = runOf({ voidBecause: 'the tool sent frames 14 ms late at p99 (limit 10 ms)' });
    const card = cardOf(densityOf({ rows: [rowOf({ runs: [late, late] })] }));
    expect(cellsOf(card, 'scripted')[2]).toBe('not judged: the tool sent frames 14 ms late at p99 (limit 10 ms)');
    expect(card).toContain('2 of 2 runs void');
  });

  test('tells of a noisy machine, and of a quiet one', () => {
    const noisy = cardOf(densityOf({ rows: [rowOf({ runs: [runOf({ noise: 'the machine is noisy' }), runOf()] })] }));
    expect(noisy).toContain('the machine was noisy in 1 of 2 runs: the machine is noisy.');
    expect(cardOf(densityOf())).toContain('No run was void, and none was on a noisy machine.');
  });

  test('has a knee as a lower bound where the load tester broke first', () => {
    const limits = { maxFrameLateP99Ms: 20, minRealTimeShare: 0.999 };
    const knee = { limits, carried: 40, notCarried: 48, low: 36, high: 40, brokeBy: ['x'], isOfTool: false };
    const card = (isOfTool: boolean): string[] =>
      cellsOf(cardOf(densityOf({ rows: [rowOf({ knee: { ...knee, isOfTool } })] })), 'scripted', 2);
    expect(card(false)).toEqual(['scripted, local engines; mu-law 8 kHz', '40 [36–40]', '48', 'x', '20 ms, 99.90 %']);
    expect(card(true)[1]).toBe('at least 40 [36–40]');
    expect(card(true)[3]).toMatch(/not the service: x/);
  });

  test('lays uWebSockets.js alone beside ours', () => {
    const run = (subject: string, cpuMs: number, pipelineMs: number) => ({
      ...{ repetition: 1, subject, voidBecause: null, calls: 300, cpuMs, ioMs: cpuMs - pipelineMs, pipelineMs },
      ...{ arrivalP99Ms: 2, sampleRatioMean: 1, residentBytesPerCall: 60_000 },
    });
    const knees = [{ subject: 'uWS alone', calls: 1_400, brokeBy: 'p99 22.1 ms late at 1450', bytesPerCall: 9_000 }];
    const runs = [run('uWS alone', 0.5, 0), run('parley uws 20 ms', 0.8, 0.125)];
    const card = cardOf(densityOf({ sockets: { runs, knees } }));
    expect(cellsOf(card, 'uWS alone').slice(1, 5)).toEqual(['0.50', '0.50', '–', '2,000']);
    expect(cellsOf(card, 'uWS alone').at(-2)).toBe('1,400');
    expect(cellsOf(card, 'parley uws').slice(1, 5)).toEqual(['0.80', '0.68', '0.13', '1,250']);
  });
});

/**
 * `npm run bench -- rotation`: the master key is changed under a running service that carries calls, with as many
 * sealed values as asked for; the command is killed twice. Ends with 1 unless everything opens, nothing lay open and
 * the former key opens nothing.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { placeDatabase } from '../../src/supervisor/postgres/placement.ts';
import { briefAgent } from '../harness/brief-agent.ts';
import { startGateway } from '../harness/gateway.ts';
import { readOptions } from '../harness/options.ts';
import { percentile } from '../harness/percentile.ts';
import { filesWith } from './files-with.ts';
import { rotateUnderCalls } from './rotate-under-calls.ts';

const { values: asked } = readOptions({
  command: 'npm run bench -- rotation',
  about: 'Changes the master key under calls, killed twice.',
  options: {
    values: { type: 'string', default: '100000' },
    batch: { type: 'string', default: '200' },
    pause: { type: 'string', default: '20' },
  },
  meanings: {
    values: '<N> sealed values',
    batch: '<N> in one transaction',
    pause: '<ms> between two batches',
  },
});
const [values, batch, pauseMs] = [Number(asked.values), Number(asked.batch), Number(asked.pause)];
const callee = '+14155550177';
const said = (line: string): void => console.log(line);

const dataDir = mkdtempSync(join(tmpdir(), 'parley-bench-rotation-'));
const gateway = await startGateway({
  dataDir,
  agent: briefAgent(),
  personas: [{ kind: 'silent', name: 'listener', number: callee, ringMs: 50 }],
  log: () => {},
});
let isGood = false;
try {
  const outcome = await rotateUnderCalls({ gateway, dataDir, values, batch, pauseMs, callee, said });
  const { opened, placementsMs, tookMs } = outcome;
  const folders = [dataDir, placeDatabase(dataDir).home];
  const onDisk = await filesWith(folders, [outcome.canary, outcome.formerKey]);
  const ends: string[] = [];
  for (const callUuid of [...outcome.calls.during, outcome.calls.after]) {
    const entry = await gateway.client.waitFor(
      callUuid,
      'its recording',
      ({ recording }) => recording?.status === 'ready',
    );
    ends.push(`${entry.status}/${entry.endedReason}`);
  }
  const { status } = await gateway.client.entry(outcome.calls.before);
  said(
    `${outcome.values} values in ${(tookMs / 1000).toFixed(1)} s, two kills and three starts of the command included`,
  );
  said(
    `under the new key when killed: ${outcome.killedAt.join(', ')}; sealed anew by the last run: ${outcome.report.resealed}`,
  );
  said(
    `open with the new key: ${opened.new}; with the former one: ${opened.former}; refused: ${opened.refused.length}`,
  );
  said(`rows and files in which something lay open: ${[...outcome.readable, ...onDisk].join(', ') || 'none'}`);
  said(`rows that name the former key: ${outcome.underFormerKey.join(', ') || 'none'}`);
  said(
    `calls meanwhile: ${ends.length}, placed in ${percentile(placementsMs, 0.5).toFixed(0)} ms (median), ${percentile(placementsMs, 1).toFixed(0)} ms at most; ended ${[...new Set(ends)].join(', ')}; the one from before: ${status}`,
  );
  isGood =
    opened.new === outcome.values &&
    opened.former === 0 &&
    [...opened.refused, ...outcome.readable, ...outcome.underFormerKey, ...onDisk].length === 0 &&
    ends.every((end) => end === 'completed/agent_hangup') &&
    status === 'in_progress';
  said(isGood ? 'as it should be' : 'NOT as it should be');
} finally {
  await gateway.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
process.exit(isGood ? 0 : 1);

/**
 * The control plane put together: who needs whom, in which order they start and stop. Called by `main.ts`, which owns
 * the process. No behaviour of its own; each part's wiring and defaults are in its file beside this one.
 */
import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { type Clock, pause } from '../../media/contract/clock.ts';
import { readinessOf } from '../api/health-routes.ts';
import type { Config } from '../config/load.ts';
import { controlCall, type SteerCall } from '../lifecycle/operator-control.ts';
import { untilCallsAreOver } from '../lifecycle/until-calls-are-over.ts';
import { createUnwrittenTalk } from '../media-link/unwritten-talk.ts';
import { createMediaReports } from '../metrics/media-reports.ts';
import { createMonitors } from '../monitor/monitors.ts';
import type { NodeName } from '../nodes/media-runs.ts';
import { claimNodeName, homeOf } from '../nodes/node-name.ts';
import { createSharedClock } from '../nodes/shared-clock.ts';
import { createApi } from './api-side.ts';
import { createCallCourse } from './call-course.ts';
import { createCallWork } from './call-work.ts';
import { figuresText } from './figures.ts';
import { openGround } from './ground.ts';
import { healthChecks } from './health.ts';
import { createMediaLink } from './media-link.ts';
import { createMediaPlaces } from './media-places.ts';
import { type MetricsServer, startMetricsServer } from './metrics-server.ts';
import { createNodes } from './nodes.ts';
import { createSound } from './sound.ts';

export interface Control {
  /**
   * Readiness fails and new calls are refused with 503 from now on; all else goes on. Resolves when the last active
   * call is over.
   */
  refuseNewCalls(): Promise<void>;
  /**
   * New calls are refused with 503 at once. Who still asks is told so for a moment; then requests are finished, and
   * all is closed in the order in which things need each other. Idempotent.
   */
  close(): Promise<void>;
}

/** As long as the one in front may take to see that this process is being stopped. */
const TELL_MS = 300;
/** Requests under way get this long at the end; event streams would go on for ever. */
const REQUESTS_LIMIT_MS = 3_000;

/** The database is there and migrated. */
export async function startControl(config: Config, machineClock: Clock, log: Logger): Promise<Control> {
  const runId = randomUUID();
  let draining = false;
  const isDraining = (): boolean => draining;

  const clock = createSharedClock(machineClock);
  const ground = await openGround(config, clock, log);
  const { database } = ground.shared;
  await clock.ask(database);
  const sound = createSound(ground);
  const { bus } = ground.telling;
  const node = nodeOf(config, sound.node);
  const storesAlone = config.recordings.kind === 'disk';
  await claimNodeName(ground.shared, node, { storesAlone });
  const nodes = createNodes(ground, { node, runs: () => link.runs, hurry: () => link.server.hurry() });
  const { remote, tokenElsewhere } = nodes;
  const places = createMediaPlaces(ground, sound, { node, others: () => link.runs.others(), remote, isDraining });
  const unwritten = createUnwrittenTalk({
    clock,
    hurry: () => link.server.hurry(),
    hasUnwritten: (callUuid) => link.server.hasUnwritten(callUuid),
    elsewhere: nodes.unwritten,
  });
  const asked = { isDraining, allWritten: unwritten.allWritten };
  const work = createCallWork(ground, places, { ...asked, toolsElsewhere: nodes.tools });
  const course = createCallCourse(ground, { places, work, ...asked });
  const reports = createMediaReports(clock);
  const steer: SteerCall = (request) => controlCall({ ...ground.shared, bus, media: places.pool }, request);
  const send = places.pool.tell;
  const monitors = createMonitors({ ...ground.shared, bus, send, controlCall: steer, tokenElsewhere });
  const parts = { sound, places, work, course, reports, monitors, steer, runId, node, nodes, unwritten, clock };
  const link = createMediaLink(ground, parts);
  ground.company.follow(node.name, link.runs.others);
  const checks = healthChecks(database, places.pool, isDraining);
  const app = createApi(ground, { ...parts, link, checks });

  let metricsServer: MetricsServer | null = null;
  let closing: Promise<void> | null = null;
  async function close(): Promise<void> {
    draining = true;
    await pause(clock, TELL_MS);
    const cancelLimit = clock.after(REQUESTS_LIMIT_MS, () => app.server.closeAllConnections());
    await app.close();
    cancelLimit();
    await work.imports.close();
    await work.exports.close();
    await work.modelHttp.close();
    await work.analysis.close();
    await course.reaper.close();
    await work.tools.close();
    await monitors.close();
    await link.server.close();
    await link.runs.close();
    nodes.close();
    await sound.close();
    await metricsServer?.close();
    work.embed.close();
    await ground.close();
  }
  const control: Control = {
    refuseNewCalls() {
      draining = true;
      link.runs.drain();
      const carried = (): number => places.pool.members().reduce((sum, member) => sum + member.activeCalls, 0);
      return untilCallsAreOver({ database, clock, carried, ownRuns: link.runs.ownInCompany, placing: course.placing });
    },
    close: () => (closing ??= close()),
  };

  try {
    await link.server.listen(join(config.runDir, 'link.sock'));
    metricsServer = await startMetricsServer({
      host: config.metricsHost,
      port: config.metricsPort,
      token: config.metricsToken,
      socketPath: join(config.runDir, 'operator.sock'),
      log,
      readiness: () => readinessOf({ clock, checks }),
      text: () => figuresText(ground, { ...parts, link }),
    });
    const apiSocket = join(config.runDir, 'api.sock');
    await rm(apiSocket, { force: true });
    await app.listen({ path: apiSocket });
  } catch (error) {
    await control.close();
    throw error;
  }
  course.reaper.start();
  work.imports.start();
  work.exports.start();
  work.analysis.start();
  sound.start();
  return control;
}

/** Without a name of the operator's it is that of the data folder, which no other has. */
function nodeOf(config: Config, disk: string): NodeName {
  const { name, address, streamUrl } = config.node;
  return { name: name ?? disk, home: homeOf(config.dataDir), address, streamBase: streamUrl };
}

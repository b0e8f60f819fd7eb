/**
 * All that is below `/api/console/`: the console's own operations, and those of the API for people. Called by
 * `routes.ts`, in a scope of its own.
 */
import type { FastifyInstance } from 'fastify';
import type { CallRefusals } from '../../overview/call-refusals.ts';
import type { Guard } from '../guard.ts';
import type { RecordingRouteDeps } from '../recordings/recording-routes.ts';
import { registerMe } from './me-routes.ts';
import { type MonitorRouteDeps, registerMonitor } from './monitor-route.ts';
import { countRefusals, type OverviewRouteDeps, registerLive, registerOverview } from './overview-routes.ts';
import { registerPeaks } from './peaks-route.ts';
import { answerPeople, throughSecondDoor } from './second-door.ts';
import { registerSession, type SessionRouteDeps } from './session-routes.ts';
import { registerUsers } from './user-routes.ts';
import { registerViews } from './view-routes.ts';

export interface ConsoleDeps extends SessionRouteDeps, OverviewRouteDeps, RecordingRouteDeps, MonitorRouteDeps {
  callRefusals: Pick<CallRefusals, 'note'>;
}

/** `registerOperations`: what is registered for keys. */
export function registerConsole(
  app: FastifyInstance,
  guard: Guard,
  deps: ConsoleDeps,
  registerOperations: (scope: FastifyInstance, guard: Guard) => void,
): void {
  countRefusals(app, deps.callRefusals);
  app.register((scope, _options, done) => {
    answerPeople(scope, deps.publicUrl);
    registerSession(scope, guard, deps);
    registerMe(scope, guard, deps);
    registerUsers(scope, guard, deps);
    registerViews(scope, guard, deps);
    registerOverview(scope, guard, deps);
    registerLive(scope, guard, deps);
    registerPeaks(scope, guard, deps);
    registerMonitor(scope, guard, deps);
    registerOperations(scope, throughSecondDoor(guard));
    done();
  });
}

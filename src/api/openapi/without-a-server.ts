/**
 * The operations of the API without a server behind them: routes are registered, as `server.ts` does, and never asked.
 * Called by what makes the client (`scripts/build-client.mjs`) and by tests that go through all operations.
 */
import Fastify from 'fastify';
import type { Guard } from '../guard.ts';
import { collectOperations } from '../route.ts';
import { type RouteDeps, registerRoutes } from '../routes.ts';
import type { Operation } from './operation.ts';

export async function operationsWithoutServer(): Promise<readonly Operation[]> {
  const app = Fastify();
  app.setValidatorCompiler(() => () => true);
  collectOperations(app);
  // What handlers need, they need when they are asked.
  const nobody: Guard = () => async () => {};
  registerRoutes(app, { keys: nobody, people: nobody }, {} as RouteDeps);
  await app.ready();
  const { operations } = app;
  await app.close();
  return operations;
}

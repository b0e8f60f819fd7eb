/**
 * `npx parley-start` runs the service below a shell: SIGTERM to npm ends that shell, which passes nothing on. So the
 * service looks whether whoever started it is still there. Only below npm: a service that was started otherwise may
 * outlive its starter.
 */
const LOOK_EVERY_MS = 500;

/** Calls `gone` once, when the process that started this one has ended. */
export function watchStarter(environment: Readonly<Record<string, string | undefined>>, gone: () => void): void {
  if (environment['npm_command'] === undefined) return;
  const starter = process.ppid;
  const look = setInterval(() => {
    if (process.ppid === starter) return;
    clearInterval(look);
    gone();
  }, LOOK_EVERY_MS);
  look.unref();
}

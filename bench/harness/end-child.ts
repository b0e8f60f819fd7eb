/** Ends a process that was started here: SIGTERM, and SIGKILL when it has not gone after a while. */
import type { ChildProcess } from 'node:child_process';

export async function endChild(child: ChildProcess, limitMs: number): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>((done) => child.once('exit', () => done()));
  child.kill('SIGTERM');
  const limit = setTimeout(() => child.kill('SIGKILL'), limitMs);
  await ended;
  clearTimeout(limit);
}

/** Runs a script with this Node.js to its end, and collects what it writes. */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

export async function runNode(
  args: readonly string[],
  environment: NodeJS.ProcessEnv = process.env,
): Promise<{ code: number; out: string }> {
  const child = spawn(process.execPath, args, { env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<number>((resolve) => child.on('close', (code) => resolve(code ?? -1)));
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, out: out + err };
}

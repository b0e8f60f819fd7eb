/** The option `--port` of an emulator: what it takes, and what is wrong where nobody can listen there. Pure. */

/** Null: nothing is wrong with it. */
export function portFault(given: string): string | null {
  if (/^\d{1,5}$/.test(given) && Number(given) <= 65_535) return null;
  return `--port takes a port from 0 to 65535 (0 takes a free one), not '${given}'`;
}

/** Of an error that came of listening; null: it came of something else. */
export function listenFault(error: unknown): string | null {
  const { code, syscall, port, address } = error as NodeJS.ErrnoException & { port?: number; address?: string };
  if (syscall !== 'listen') return null;
  const what = code === 'EADDRINUSE' ? 'is taken by another process' : `cannot be used (${code})`;
  return `Port ${port} on ${address} ${what}. Stop that process, or give --port (and --host) another; --port 0 takes a free one.`;
}

/**
 * Where an embedded database lives and as whom it runs. PostgreSQL refuses to run as root, and an unprivileged user
 * cannot enter a private clone; so as root both programs and data go below the machine's folder of variable data.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export interface DatabasePlacement {
  /** Parent of the programs. */
  programs: string;
  /** The cluster's own folder (holds `cluster`, `password`, `port`, `owner.pid`). */
  home: string;
  /** Whom to run as; null keeps the current user. */
  user: { uid: number; gid: number } | null;
}

const VARIABLE_DATA = '/var/lib/parley';
/** The first of these that the machine knows. */
const UNPRIVILEGED = ['parley', 'postgres', 'nobody'];

export function placeDatabase(dataDir: string): DatabasePlacement {
  if (process.getuid?.() !== 0) {
    return { programs: join(resolve(dataDir), 'programs'), home: join(resolve(dataDir), 'database'), user: null };
  }
  const id = createHash('sha256').update(resolve(dataDir)).digest('hex').slice(0, 12);
  return { programs: VARIABLE_DATA, home: join(VARIABLE_DATA, id), user: unprivilegedUser() };
}

function unprivilegedUser(): { uid: number; gid: number } {
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
  for (const name of UNPRIVILEGED) {
    const fields = lines.find((line) => line.startsWith(`${name}:`))?.split(':');
    if (fields) return { uid: Number(fields[2]), gid: Number(fields[3]) };
  }
  throw new Error(
    `PostgreSQL does not run as root, and this machine has none of the users ${UNPRIVILEGED.join(', ')}. Create one (adduser --system parley), run Parley as another user, or set DATABASE_URL.`,
  );
}

/** Before `npm pack`: a clean build, so that nothing of a file that was removed from the sources is packed. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBuilt, ensurePackages, root } from './bootstrap.mjs';

ensurePackages();
rmSync(join(root, 'dist'), { recursive: true, force: true });
ensureBuilt();

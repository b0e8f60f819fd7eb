/**
 * Loads what may need a package that is not installed, and says then what to install. Used by whoever loads an engine.
 */

/** `what`: in words, at the beginning of the sentence. Rejects with whatever else goes wrong as it is. */
export async function withPackages<Loaded>(
  what: string,
  packages: readonly string[],
  load: () => Promise<Loaded>,
): Promise<Loaded> {
  try {
    return await load();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') throw error;
    const [why] = message.split('\n', 1);
    throw new Error(`${what} needs a package that is not installed: npm install ${packages.join(' ')} (${why})`);
  }
}

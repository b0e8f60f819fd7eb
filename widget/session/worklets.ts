/**
 * Loads the worklets' module. First by its own address, which a strict policy can allow by host; where that is refused
 * (Safari in some frames), as blob:, then as data:. A context loads it once.
 */

export async function loadWorklets(context: AudioContext, address: string): Promise<void> {
  try {
    await context.audioWorklet.addModule(address);
    return;
  } catch (error) {
    const code = await fetch(address).then(
      (answer) => (answer.ok ? answer.text() : Promise.reject(error)),
      () => Promise.reject(error),
    );
    const blob = URL.createObjectURL(new Blob([code], { type: 'text/javascript' }));
    try {
      await context.audioWorklet.addModule(blob);
    } catch {
      await context.audioWorklet
        .addModule(`data:text/javascript;base64,${btoa(unescape(encodeURIComponent(code)))}`)
        .catch(() => {
          throw error;
        });
    } finally {
      URL.revokeObjectURL(blob);
    }
  }
}

/**
 * What runs in the page to see when something is on the screen. Text, because the page has a DOM and Node has none.
 * Something counts as shown when the frame in which it was drawn has been handed over: a task that is queued in that
 * frame's callback runs after it.
 */

/** `bench.painted()`: the time of the page at which what is in the document now had been drawn. */
export const PAINTED = `window.bench = {
  painted: () => new Promise((done) => requestAnimationFrame(() => {
    const line = new MessageChannel();
    line.port1.onmessage = () => done(performance.now());
    line.port2.postMessage(0);
  })),
  until: async (isSo) => { while (!isSo()) await new Promise(requestAnimationFrame); return bench.painted(); },
};`;

/** `bench.firstRows`: resolves once the list of calls shows its first row, with what was loaded for it. */
export const FIRST_ROWS = `${PAINTED}
bench.firstRows = new Promise((done) => {
  const seen = new MutationObserver(() => {
    if (document.querySelector('.rows.calls [data-row]') === null) return;
    seen.disconnect();
    void bench.painted().then((rowsMs) => {
      const loaded = performance.getEntriesByType('resource').filter(({ startTime }) => startTime < rowsMs);
      const code = loaded.filter(({ name }) => /\\.(js|css)$/.test(name));
      const list = loaded.find(({ name }) => /\\/calls\\?/.test(name));
      done({
        rowsMs,
        codeMs: Math.max(...code.map(({ responseEnd }) => responseEnd)),
        listAskedMs: list?.startTime ?? NaN,
        listMs: (list?.responseEnd ?? NaN) - (list?.startTime ?? NaN),
        transferBytes: loaded.reduce((sum, { transferSize }) => sum + transferSize, 0),
      });
    });
  });
  seen.observe(document, { childList: true, subtree: true });
});`;

/** From a change of the address to what the list shows for it: rows, or that there are none. Milliseconds. */
export const showCalls = (hash: string): string => `(async () => {
  for (const old of document.querySelectorAll('.rows.calls, .empty')) old.dataset.old = '';
  const beganMs = performance.now();
  location.hash = ${JSON.stringify(hash)};
  const endMs = await bench.until(() =>
    document.querySelector('.bone') === null &&
    document.querySelector('.rows.calls:not([data-old]) [data-row], .empty:not([data-old])') !== null);
  return { ms: endMs - beganMs, rows: document.querySelectorAll('.rows.calls [data-row]').length };
})()`;

/** Scrolls down a window at each frame, until so many rows are there or the time is over. */
export const scrollCalls = (rowsWanted: number, limitMs: number): string => `(async () => {
  const box = document.querySelector('.rows.calls');
  const beganMs = performance.now();
  let [mostNodes, rows, frames, longFrames, longestMs, atMs] = [0, 0, 0, 0, 0, beganMs];
  while (rows < ${rowsWanted} && performance.now() - beganMs < ${limitMs}) {
    box.scrollTop += box.clientHeight;
    const nowMs = await new Promise(requestAnimationFrame);
    const frameMs = nowMs - atMs;
    atMs = nowMs;
    frames++;
    longestMs = Math.max(longestMs, frameMs);
    if (frameMs > 50) longFrames++;
    if (frames % 10 === 0) {
      mostNodes = Math.max(mostNodes, document.querySelectorAll('*').length);
      rows = parseInt(document.querySelector('.rows.calls .row-space').style.height, 10) / 40;
    }
  }
  return { rows, seconds: (performance.now() - beganMs) / 1000, mostNodes, frames, longFrames, longestMs };
})()`;

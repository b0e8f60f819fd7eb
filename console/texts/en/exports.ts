/** Words of exports of the call log. */
export const exportWords = {
  title: 'Your exports',
  about: 'Written in the background, also when this page is closed. Each is deleted a day after its end.',
  all: 'All exports',
  asked: 'It is being written. You find it under Export, also later.',
  ready: (name: string) => `${name} is ready`,
  none: 'Nothing was exported in the last day',
  noneHint: 'Filter the calls, then choose a form under Export: the file holds what is shown.',
  formats: { csv: 'CSV', ndjson: 'NDJSON' },
  states: { queued: 'Waiting', running: 'Being written', completed: 'Ready', failed: 'Failed' },
  progress: 'How far it is',
  rows: (written: number, total: number | null) =>
    total === null || total === written
      ? `${written} calls`
      : `${written} of ${total > 100_000 ? '100,000' : total} calls`,
  cut: 'Cut: there are more calls than a file may hold. Narrow the time, and export the rest.',
  until: 'until',
  fetch: 'Download',
  stop: 'Stop',
  remove: 'Delete',
  removed: 'The export is deleted',
  everything: 'all calls',
};

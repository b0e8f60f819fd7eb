/** Words of saved views. */
export const viewWords = {
  change: 'Change this view',
  hint: 'The filters are kept on the service, under your name.',
  of: (name: string, madeBy: string) => `${name} (${madeBy})`,
  removed: (name: string) => `“${name}” is removed`,
  share: 'Everybody in the workspace sees it',
  shareHint: 'Whoever may see calls finds it in this menu.',
  shared: (name: string) => `${name} (shared)`,
  usual: {
    broke: 'Ended by a fault after the answer',
    interrupted: 'The agent was interrupted',
    slow: 'Replies slower than 1.5 s',
    unclear: 'Not understood at times',
    tool: 'A tool failed',
  },
};

/** Words of how far the sending of a webhook is. */
export const deliveryStates = {
  pending: 'Waiting',
  delivered: 'Delivered',
  failed: 'Will be tried again',
  dead: 'Given up',
};

/** What became of one that was asked to be sent. */
export const sentWords = {
  delivered: (status: number | null) => `Delivered: the receiver answered ${status ?? 'well'}`,
  failed: (why: string, state: string) => `Not delivered: ${why}. ${state}.`,
  waits: 'It waits: the receiver does not answer, or sending is paused (Settings, Webhooks).',
};

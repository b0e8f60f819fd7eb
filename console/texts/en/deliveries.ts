/** Words of how far the sending of a webhook is. */
export const deliveryStates = {
  pending: 'Waiting',
  delivered: 'Delivered',
  failed: 'Will be tried again',
  dead: 'Given up',
};

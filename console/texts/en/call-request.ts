/** Words of the request that made a call. */
export const requestWords = {
  title: 'The request that made it',
  by: 'Asked by',
  nobody: 'The service itself',
  from: 'From',
  at: 'At',
  id: 'Request',
  operation: 'Operation',
  key: 'Idempotency-Key',
  again: 'What places the same call again',
  copy: 'Copy as curl',
};

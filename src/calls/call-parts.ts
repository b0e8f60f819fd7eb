/** What is kept of a call, by kind: each has its own retention and can be removed alone (contract §13, §17). */
export const CALL_PARTS = ['recording', 'transcript', 'analysis', 'events', 'metadata'] as const;
export type CallPart = (typeof CALL_PARTS)[number];

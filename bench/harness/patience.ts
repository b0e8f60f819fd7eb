/**
 * How long anything that must come is waited for: a guard against hanging, and no judgement of the machine. What shall
 * be fast is measured by a bench, and what must come in time is counted on a virtual clock.
 */
export const PATIENCE_MS = 240_000;

/** A database's address with limits that a busy machine keeps: new sessions and statements take longer there. */
export function patientAddress(connectionString: string): string {
  const address = new URL(connectionString);
  address.searchParams.set('connect_timeout', '60');
  address.searchParams.set('statement_timeout', '60000');
  return address.href;
}

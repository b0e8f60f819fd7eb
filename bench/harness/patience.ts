/**
 * How long anything that must come is waited for: a guard against hanging, and no judgement of the machine. What shall
 * be fast is measured by a bench, and what must come in time is counted on a virtual clock.
 */
export const PATIENCE_MS = 240_000;

/**
 * The text of a body within contract §11's bound of 256 KB. The transcript is cut before (64 KB); what can still be too
 * large is what a client or a model put into single fields. Pure; called by `outbox.ts`.
 */

export const MAX_BODY_BYTES = 256 * 1024;

/**
 * What a receiver needs to know which event of which call this is, and the transcript, which has a bound of its own.
 */
const KEPT = new Set(['event', 'callUuid', 'to', 'transcript', 'id', 'apiVersion', 'timestamp', 'sequence']);

/** JSON of at most `maxBytes` of UTF-8: the largest fields become null, and `omittedFields` names them. */
export function bodyText(body: Readonly<Record<string, unknown>>, maxBytes: number = MAX_BODY_BYTES): string {
  const text = JSON.stringify(body);
  if (Buffer.byteLength(text) <= maxBytes) return text;
  const sizes = Object.entries(body)
    .filter(([name]) => !KEPT.has(name))
    .map(([name, value]) => ({ name, bytes: Buffer.byteLength(JSON.stringify(value) ?? '') }))
    .toSorted((a, b) => b.bytes - a.bytes);
  const fitted: Record<string, unknown> = { ...body };
  const omittedFields: string[] = [];
  for (const { name } of sizes) {
    fitted[name] = null;
    omittedFields.push(name);
    const shorter = JSON.stringify({ ...fitted, omittedFields });
    if (Buffer.byteLength(shorter) <= maxBytes) return shorter;
  }
  throw new Error(
    `A webhook body of ${String(body['event'])} does not fit into ${maxBytes} bytes even without its details`,
  );
}

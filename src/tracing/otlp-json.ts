/** Spans as OTLP 1 in JSON, the body of `POST …/v1/traces`. Pure; sent by `trace-exporter.ts`. */
import type { AttributeValue, Span } from './span.ts';

const KINDS = { internal: 1, server: 2, client: 3 } as const;
const STATUS_ERROR = 2;

export function otlpTraces(spans: readonly Span[], resource: { serviceName: string; version: string }): string {
  const resourceAttributes = { 'service.name': resource.serviceName, 'service.version': resource.version };
  return JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: attributesOf(resourceAttributes) },
        scopeSpans: [{ scope: { name: 'parley', version: resource.version }, spans: spans.map(spanOf) }],
      },
    ],
  });
}

function spanOf({ traceId, spanId, parentSpanId, name, kind, startEpochMs, endEpochMs, attributes, error }: Span) {
  return {
    traceId,
    spanId,
    ...(parentSpanId === null ? {} : { parentSpanId }),
    name,
    kind: KINDS[kind],
    startTimeUnixNano: nanos(startEpochMs),
    endTimeUnixNano: nanos(Math.max(startEpochMs, endEpochMs)),
    attributes: attributesOf(attributes),
    ...(error === null ? {} : { status: { code: STATUS_ERROR, message: error } }),
  };
}

function attributesOf(attributes: Readonly<Record<string, AttributeValue | null>>): object[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === null ? [] : [{ key, value: anyValue(value) }],
  );
}

function anyValue(value: AttributeValue): object {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  // 64-bit integers are strings in this form.
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

/** Too many for a number. */
function nanos(epochMs: number): string {
  return (BigInt(Math.round(epochMs * 1000)) * 1000n).toString();
}

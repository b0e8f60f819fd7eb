/**
 * Where traces of calls go: the variables that OpenTelemetry names, and one of ours. Read by `load.ts`; values may be
 * keys, so no fault shows one.
 */
type Environment = Readonly<Record<string, string | undefined>>;

export interface TraceSettings {
  /** Whole: `http://localhost:4318/v1/traces`. */
  url: string;
  headers: Readonly<Record<string, string>>;
  serviceName: string;
  /** What was heard is told too. */
  withContent: boolean;
}

const SIGNAL_PATH = '/v1/traces';
const SERVICE_NAME = 'parley';
/** For control alone. */
export const TRACE_HEADERS = ['OTEL_EXPORTER_OTLP_HEADERS', 'OTEL_EXPORTER_OTLP_TRACES_HEADERS'] as const;

/** `settings` null: no traces are wanted. */
export function readTraceSettings(given: Environment): { settings: TraceSettings | null; faults: string[] } {
  const whole = given['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];
  const base = given['OTEL_EXPORTER_OTLP_ENDPOINT'];
  const isOff = given['OTEL_SDK_DISABLED'] === 'true' || given['OTEL_TRACES_EXPORTER'] === 'none';
  const endpoint = whole ?? base;
  if (endpoint === undefined || isOff) return { settings: null, faults: [] };
  const faults: string[] = [];
  const name = whole === undefined ? 'OTEL_EXPORTER_OTLP_ENDPOINT' : 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT';
  if (!/^https?:$/.test(protocolOf(endpoint)))
    faults.push(`  ${name} must be the http(s) address of an OTLP/HTTP collector, like http://localhost:4318`);
  const protocol = given['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'] ?? given['OTEL_EXPORTER_OTLP_PROTOCOL'];
  if (protocol === 'grpc')
    faults.push('  OTEL_EXPORTER_OTLP_PROTOCOL is grpc: traces leave over HTTP; leave it out, and name port 4318');
  const content = given['PARLEY_TRACE_CONTENT'] ?? 'false';
  if (content !== 'true' && content !== 'false') faults.push('  PARLEY_TRACE_CONTENT must be true or false');
  const headers = headersIn(given['OTEL_EXPORTER_OTLP_TRACES_HEADERS'] ?? given['OTEL_EXPORTER_OTLP_HEADERS'] ?? '');
  if (headers === null) faults.push('  OTEL_EXPORTER_OTLP_HEADERS must be pairs like api-key=…,tenant=…');
  if (faults.length > 0) return { settings: null, faults };
  const url = whole ?? `${base!.replace(/\/+$/, '')}${SIGNAL_PATH}`;
  const serviceName = given['OTEL_SERVICE_NAME'] ?? SERVICE_NAME;
  return { settings: { url, headers: headers!, serviceName, withContent: content === 'true' }, faults };
}

function protocolOf(url: string): string {
  return URL.canParse(url) ? new URL(url).protocol : '';
}

function decodedOf(value: string): string | null {
  try {
    return decodeURIComponent(value);
  } catch {
    return null;
  }
}

/** Null: they are no pairs, or none that a request may have. */
function headersIn(list: string): Record<string, string> | null {
  const headers: Record<string, string> = {};
  for (const pair of list.split(',')) {
    if (pair.trim() === '') continue;
    const [, name, value] = /^\s*([!#$%&'*+.^_`|~\w-]+)\s*=\s*(.*?)\s*$/.exec(pair) ?? [];
    if (name === undefined || value === undefined) return null;
    const decoded = decodedOf(value);
    if (decoded === null || !/^[ -~]*$/.test(decoded)) return null;
    headers[name] = decoded;
  }
  return headers;
}

import { expect, test } from 'vitest';
import { readTraceSettings } from '../../../src/config/trace-settings.ts';

const ENDPOINT = 'http://collector:4318/';

test('no endpoint, or OpenTelemetry switched off, is no traces', () => {
  for (const given of [
    {},
    { OTEL_EXPORTER_OTLP_ENDPOINT: ENDPOINT, OTEL_SDK_DISABLED: 'true' },
    { OTEL_EXPORTER_OTLP_ENDPOINT: ENDPOINT, OTEL_TRACES_EXPORTER: 'none' },
  ]) {
    expect(readTraceSettings(given)).toEqual({ settings: null, faults: [] });
  }
});

test('an endpoint gets the path of traces, one of traces alone is taken as it stands', () => {
  const { settings } = readTraceSettings({
    OTEL_EXPORTER_OTLP_ENDPOINT: ENDPOINT,
    OTEL_EXPORTER_OTLP_HEADERS: 'api-key=a%20b, tenant=c=d',
  });
  expect(settings).toEqual({
    url: 'http://collector:4318/v1/traces',
    headers: { 'api-key': 'a b', tenant: 'c=d' },
    serviceName: 'parley',
    withContent: false,
  });
  const own = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://other/x', PARLEY_TRACE_CONTENT: 'true' };
  expect(readTraceSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: ENDPOINT, ...own }).settings).toMatchObject({
    url: 'https://other/x',
    withContent: true,
  });
});

test.each([
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, /OTEL_EXPORTER_OTLP_ENDPOINT must be the http/],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, /leave it out, and name port 4318/],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS: 's3cret' }, /must be pairs/],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS: 'key=s3cret%0a' }, /must be pairs/],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: ENDPOINT, PARLEY_TRACE_CONTENT: 'yes' }, /must be true or false/],
])('%o is a fault that shows no value', (given, fault) => {
  const { settings, faults } = readTraceSettings(given);
  expect(settings).toBeNull();
  expect(faults.join('\n')).toMatch(fault);
  expect(faults.join('\n')).not.toContain('s3cret');
});

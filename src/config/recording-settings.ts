/**
 * Where recordings are stored, from the environment: `RECORDING_STORE` and, for an object store, `RECORDING_S3_…`. Read
 * by the settings of control, of the command line and of the doctor, so that all three see the same store.
 */
export interface S3Settings {
  /** Like https://s3.eu-central-1.amazonaws.com or http://minio:9000; no slash at its end. */
  endpoint: string;
  bucket: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
  /** Before every name; empty, or ending in a slash. */
  prefix: string;
}

export interface StoreSettings {
  /** Of the store that new recordings go to. */
  kind: 'disk' | 's3';
  /** Null where only the disk is used, or was not set. */
  s3: S3Settings | null;
}

type Environment = Readonly<Record<string, string | undefined>>;

const BUCKET = /^[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]$/;
const PREFIX = /^([0-9A-Za-z][0-9A-Za-z._-]*\/)*$/;

/** `faults` name each variable at fault and the way out; never a value that may be secret. Empty counts as absent. */
export function readRecordingSettings(environment: Environment): { settings: StoreSettings; faults: string[] } {
  const given = (name: string): string => environment[name]?.trim() ?? '';
  const faults: string[] = [];
  const kind = given('RECORDING_STORE') || 'disk';
  if (kind !== 'disk' && kind !== 's3') faults.push('  RECORDING_STORE must be disk or s3');
  // Set up beside the disk too: older recordings may lie there.
  if (kind !== 's3' && given('RECORDING_S3_BUCKET') === '') return { settings: { kind: 'disk', s3: null }, faults };

  const need = (name: string, hint: string, fits: (value: string) => boolean): string => {
    const value = given(name);
    if (!fits(value)) faults.push(`  ${name} ${value === '' ? 'is missing' : 'is not right'}: ${hint}`);
    return value;
  };
  const prefix = given('RECORDING_S3_PREFIX');
  const withSlash = prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`;
  if (!PREFIX.test(withSlash))
    faults.push('  RECORDING_S3_PREFIX must be like parley or parley/recordings (or be left out)');
  const region = given('RECORDING_S3_REGION') || 'us-east-1';
  const s3 = {
    bucket: need('RECORDING_S3_BUCKET', 'the name of the bucket, like acme-recordings', (value) => BUCKET.test(value)),
    endpoint: (given('RECORDING_S3_ENDPOINT') || `https://s3.${region}.amazonaws.com`).replace(/\/+$/, ''),
    region,
    accessKeyId: need(
      'RECORDING_S3_ACCESS_KEY_ID',
      'the id of a key that may put, get, delete and list',
      (value) => value !== '',
    ),
    secretAccessKey: need('RECORDING_S3_SECRET_ACCESS_KEY', 'the secret of that key', (value) => value !== ''),
    prefix: withSlash,
  };
  if (!URL.canParse(s3.endpoint) || !/^https?:\/\/[^/?#@]+$/.test(s3.endpoint)) {
    faults.push(
      '  RECORDING_S3_ENDPOINT must be an address without a path, like https://s3.example.com or http://minio:9000',
    );
  }
  return { settings: { kind: kind === 's3' ? 's3' : 'disk', s3 }, faults };
}

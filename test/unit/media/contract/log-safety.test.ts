import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { createLineCleaner, safeError, safeLogOptions } from '../../../../media/contract/log-safety.ts';

function logged(work: (log: ReturnType<typeof pino>) => void, secrets: string[] = []): string {
  const lines: string[] = [];
  work(pino({ level: 'trace', ...safeLogOptions(secrets) }, { write: (line: string) => void lines.push(line) }));
  return lines.join('');
}

describe('a log line', () => {
  it.each([
    ['a number with its plus', 'dialled +14155550123 twice', 'dialled +…23 twice'],
    ['a number in a query', 'To=%2B14155550123&From=1', 'To=%2B…23&From=1'],
    ['a number of 10 digits alone', '"to":"4155550123"', '"to":"…23"'],
    ['a number in a row', 'row contains (x, 14155550123, y)', 'row contains (x, …23, y)'],
    ['an API key', 'key sv_live_abcdEFGH_0123456789', 'key sv_live_abcdEFGH_[secret]'],
    ['a webhook secret', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw==', 'whsec_[secret]'],
    ['an authorization', 'Basic TUFYWFhYOnRva2Vu', 'Basic [secret]'],
    ["a provider's key", 'key sk-proj-abcdefghijkl_mnop is wrong', 'key sk-[secret] is wrong'],
    ['a key in a header', 'Token 0123456789abcdef0123456789', 'Token [secret]'],
    ['a key in another', 'xi-api-key: abcdef0123456789', 'xi-api-key: [secret]'],
    ['a stream token', 'GET /media/plivo/abcdefghijklmnop_q-rs', 'GET /media/plivo/[secret]'],
    ['a database password', 'postgresql://me:hunter22@db/x', 'postgresql://me:[secret]@db/x'],
    ['a known secret', 'of exactly-this-secret here', 'of [secret] here'],
  ])('does not hold %s', (_what, text, clean) => {
    expect(createLineCleaner(['exactly-this-secret'])(text)).toBe(clean);
  });

  it('keeps times, UUIDs, durations and ports', () => {
    const line = '{"time":1763700000123,"callUuid":"0199f0a2-6c1e-7b7a-9a58-123456789012","ms":123456789,"port":8080}';
    expect(createLineCleaner()(line)).toBe(line);
  });

  it('is cleaned through pino: fields by name, errors by shape, the rest by form', () => {
    const text = logged(
      (log) => {
        log.info(
          {
            call: {
              toNumber: 'x-canary',
              credentials: { authToken: 'y-canary' },
              setup: { grants: [{ credentials: { apiKey: 'v-canary' } }] },
            },
          },
          'to +14155550123',
        );
        log.child({ part: 'p' }).warn({ err: new Error('for 14155550123 z-canary-key') }, 'failed');
      },
      ['z-canary-key'],
    );
    expect(text).not.toMatch(/canary|5550123/);
    expect(
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).msg),
    ).toEqual(['to +…23', 'failed']);
  });
});

describe('an error in a log line', () => {
  it('has no frames where somebody outside is slow or away, as at a start under load; of a fault of ours it has', () => {
    const away = new Error('Connection terminated due to connection timeout', {
      cause: new Error('Connection terminated unexpectedly'),
    });
    const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), { code: 'ECONNREFUSED' });
    const starting = Object.assign(new Error('the database system is starting up'), { code: '57P03' });
    for (const error of [away, refused, starting]) {
      const text = logged((log) => log.warn({ err: error }, 'waits'));
      expect(text).toContain(error.message);
      expect(text).not.toMatch(/stack| at /);
    }
    expect(logged((log) => log.error({ err: new TypeError('ours') }, 'fault'))).toMatch(/"stack":" +at /);
  });

  it('has type, message, frames, code and causes, and not the row that PostgreSQL quotes', () => {
    const database = Object.assign(new Error('duplicate key'), {
      code: '23505',
      constraint: 'calls_pkey',
      detail: 'Failing row contains (detail-canary)',
      parameters: ['detail-canary'],
    });
    const text = JSON.stringify(safeError(new Error('not stored', { cause: database })));
    expect(text).not.toContain('canary');
    expect(safeError(database)).toMatchObject({ type: 'Error', message: 'duplicate key (calls_pkey)', code: '23505' });
    expect(safeError(database).stack).toMatch(/^\s+at .*log-safety\.test/);
    expect(safeError(new AggregateError([database], 'both')).causes).toHaveLength(1);
  });

  it('does not show the text that was no JSON', () => {
    let fault: unknown;
    try {
      JSON.parse('a transcript-canary');
    } catch (error) {
      fault = error;
    }
    expect((fault as Error).message).toContain('transcript');
    expect(JSON.stringify(safeError(fault))).not.toContain('transcript');
  });

  it('ends at a cause that is its own', () => {
    const own = new Error('a');
    own.cause = own;
    expect(JSON.stringify(safeError(own)).length).toBeLessThan(10_000);
  });
});

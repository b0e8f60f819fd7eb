import { describe, expect, it } from 'vitest';
import { auditedJson } from '../../../src/audit/audited-value.ts';

describe('a value for the audit', () => {
  it('is one text for equal values, whatever the order of their keys', () => {
    expect(auditedJson({ b: 1, a: { d: [2, { z: 1, y: 2 }], c: null } })).toBe(
      auditedJson({ a: { c: null, d: [2, { y: 2, z: 1 }] }, b: 1 }),
    );
    expect(auditedJson(undefined)).toBeNull();
    expect(auditedJson({ at: new Date(0) })).toBe('{"at":"1970-01-01T00:00:00.000Z"}');
  });

  it('has no secret in it, by its name or by its look, at any depth', () => {
    const canary = 'canary-4711';
    const text = auditedJson({
      secret: canary,
      auth_token: canary,
      credentials: { authId: canary, authToken: canary },
      list: [{ password: canary }, `Bearer ${canary}`, `whsec_${canary}`],
      note: `the key sv_live_AbCdEfGh_${'x'.repeat(38)} leaked`,
      bytes: Buffer.from(canary),
      hasCredentials: true,
      apiKey: canary,
      name: 'kept',
    });
    expect(text).not.toContain(canary);
    expect(text).not.toContain('xxxx');
    expect(JSON.parse(text ?? '')).toMatchObject({ hasCredentials: true, name: 'kept', secret: '[secret]' });
  });

  it('says how many secrets there were, and shows no PIN', () => {
    const report = { resealed: 5, unreadable: { 'workspace_secrets.value_sealed': 1 } };
    expect(auditedJson({ ...report, pin: 4711 })).toBe(JSON.stringify({ pin: '[secret]', ...report }));
  });

  it('is cut at 16 Ki characters to its length and hash, and survives 50 levels and U+0000', () => {
    expect(auditedJson({ text: 'x'.repeat(20_000) })).toMatch(
      /^\{"cut":\{"characters":20011,"sha256":"[0-9a-f]{64}"\}\}$/,
    );
    let deep: unknown = 'end';
    for (let level = 0; level < 50; level++) deep = { deep };
    expect(auditedJson(deep)).toContain('[deep]');
    expect(auditedJson('a\u0000b')).toBe('"a\\u0000b"');
  });
});

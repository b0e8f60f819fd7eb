import { describe, expect, it } from 'vitest';
import { RIGHTS, ROLES, rightsOf, scopesAmong } from '../../../src/users/roles.ts';
import { SCOPES } from '../../../src/workspaces/api-keys.ts';

describe('roles', () => {
  it('each may what the next may, and more, but for the last two of the first', () => {
    const counts = ROLES.map((role) => rightsOf(role, false).length);
    expect(counts[0]).toBe(RIGHTS.length);
    for (const [index, role] of ROLES.slice(1).entries()) {
      const above = rightsOf(ROLES[index]!, false);
      expect(rightsOf(role, false).filter((right) => !above.includes(right))).toEqual([]);
    }
    expect(counts.toSorted((a, b) => b - a)).toEqual(counts);
  });

  it('an analyst hears only where that was granted, and changes nothing', () => {
    expect(rightsOf('analyst', false)).not.toContain('recordings:read');
    expect(rightsOf('analyst', true)).toContain('recordings:read');
    expect(rightsOf('analyst', true).filter((right) => !right.endsWith(':read'))).toEqual([]);
  });

  it('a key that a person makes can have scopes that the person has, and no finer right', () => {
    expect(scopesAmong(rightsOf('owner', true))).toEqual(SCOPES);
    expect(scopesAmong(rightsOf('supervisor', true))).toEqual([
      'calls:write',
      'calls:read',
      'leads:write',
      'leads:read',
      'agents:read',
    ]);
  });
});

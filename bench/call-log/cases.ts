/** What is asked of the call log, by filter and share; the values are those that `generate.ts` puts in. */
import type { CallFilters } from '../../src/call-log/call-log-query.ts';
import type { Tenant } from './generate.ts';

export interface Case {
  filter: string;
  share: 'one call' | '1 %' | '50 %' | 'all' | 'mixed';
  tenant: Tenant;
  filters: CallFilters;
}

export function casesOf([first, second, third]: readonly Tenant[]): Case[] {
  const cases: Case[] = [];
  const add = (filter: string, share: Case['share'], filters: CallFilters, tenant: Tenant = first!): void => {
    cases.push({ filter, share, tenant, filters });
  };
  /** The same filter with its rare, its uncommon and its common value. */
  const each = (filter: keyof CallFilters, one: unknown, hundredth: unknown, half: unknown): void => {
    add(filter, 'one call', { [filter]: one });
    add(filter, '1 %', { [filter]: hundredth });
    add(filter, '50 %', { [filter]: half });
  };
  const lead = (last: number) => [`a4000000-0000-4000-8000-${String(last).padStart(12, '0')}`];
  add('none', 'all', {});
  each('status', ['in_progress'], ['failed'], ['completed']);
  each('endedReason', ['ivr_reached'], ['inactivity'], ['no_answer']);
  each('fault', ['platform'], ['carrier'], ['none']);
  each('agentId', [first!.agents.one], [first!.agents.hundredth], [first!.agents.half]);
  each('leadId', lead(2), lead(1), lead(0));
  each('to', ['+14155550001'], ['+14155550002'], ['+14155550003']);
  each('from', [first!.lines.one], [first!.lines.hundredth], [first!.lines.half]);
  each('answeredBy', ['ivr'], ['machine'], ['human']);
  each('idempotencyKey', ['one'], ['hundredth'], ['half']);
  each('metadata', { plan: 'one' }, { plan: 'hundredth' }, { plan: 'half' });
  each('minDuration', 8000, 1000, 10);
  each('maxDuration', 5, 34, 8000);
  each('mouthToEarP95Gte', 5000, 3000, 1);
  // Two values each: the shares lie in three workspaces.
  add('channel', 'one call', { channel: ['web'] }, first);
  add('channel', '1 %', { channel: ['web'] }, second);
  add('channel', '50 %', { channel: ['web'] }, third);
  add('direction', 'one call', { direction: ['inbound'] }, third);
  add('direction', '1 %', { direction: ['inbound'] }, first);
  add('direction', '50 %', { direction: ['inbound'] }, second);
  add('hasRecovery', 'one call', { hasRecovery: true }, first);
  add('hasRecovery', '1 %', { hasRecovery: true }, second);
  add('hasRecovery', '50 %', { hasRecovery: true }, third);
  add('toolErrored', 'one call', { toolErrored: true }, third);
  add('toolErrored', '1 %', { toolErrored: true }, first);
  add('toolErrored', '50 %', { toolErrored: true }, second);
  add('createdAfter', '50 %', { createdAfter: '2024-05-22T00:00:00Z' });
  add('createdBefore', '1 %', { createdBefore: '2021-12-09T00:00:00Z' });
  add('q: zanzibar', 'one call', { q: 'zanzibar' });
  add('q: refund', '1 %', { q: 'refund' });
  add('q: appointment', '50 %', { q: 'appointment' });
  add('q: oldtimes (first year only)', 'mixed', { q: 'oldtimes' });
  add('q: "refund" and a phrase', 'mixed', { q: 'refund "word1 word2"' });
  add('q: refund -word1 + status + metadata', 'mixed', {
    q: 'refund -word1',
    status: ['completed'],
    metadata: { plan: 'half' },
  });
  add('two of 50 % that never meet', 'mixed', { status: ['no_answer'], answeredBy: ['human'] });
  add('status + minDuration, both 1 %', 'mixed', { fault: ['platform', 'carrier'], minDuration: 1000 });
  return cases;
}

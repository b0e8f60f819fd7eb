import { describe, expect, it } from 'vitest';
import { ConnectionGate } from '../../../../../media/io/request-room/connection-gate.ts';
import { VirtualClock } from '../../../../support/virtual-clock.ts';

function setUp(plenty: number, known: readonly string[] = []) {
  const clock = new VirtualClock();
  const refused: string[] = [];
  const gate = new ConnectionGate({
    clock,
    plenty,
    isKnown: (peer) => known.includes(peer),
    refused: (address) => refused.push(address),
  });
  const open = (peer: string, times: number): number => {
    let taken = 0;
    for (let at = 0; at < times; at++) if (gate.opened(peer)) taken++;
    return taken;
  };
  return { clock, gate, refused, open };
}

describe('connections on which nothing is asked', () => {
  it('are refused to nobody while there are plenty, and then to whoever has an equal part of them', () => {
    const { gate, refused, open } = setUp(100);
    expect(open('192.0.2.1', 150)).toBe(100);
    // One who comes late gets its part of the same hundred.
    expect(open('192.0.2.2', 150)).toBe(50);
    expect(open('192.0.2.3', 1)).toBe(1);
    expect(refused).toHaveLength(150);
    expect(gate.count).toBe(151);
  });

  it('of a thousand addresses leave each newcomer its first', () => {
    const { open } = setUp(100);
    for (let at = 0; at < 1_000; at++) open(`10.0.${at >> 8}.${at & 255}`, 5);
    expect(open('192.0.2.7', 3)).toBe(1);
  });

  it('count a /64 of IPv6 as one client, and those whom control vouches for by another measure', () => {
    const { open } = setUp(10, ['192.0.2.9']);
    expect(open('2001:db8::1', 6) + open('2001:db8::2', 6)).toBe(10);
    expect(open('192.0.2.8', 9)).toBe(5);
    expect(open('192.0.2.9', 9)).toBe(9);
  });

  it('are forgotten when they close, become requests or sockets, or have waited for as long as a server lets them', () => {
    const { clock, gate, open } = setUp(100);
    open('a', 4);
    gate.gone('a', false);
    gate.asked('a');
    gate.asked('a');
    gate.gone('a', true);
    expect(gate.count).toBe(2);
    gate.answered('a');
    expect(gate.count).toBe(2);
    clock.advanceMs(11_900);
    expect(gate.count).toBe(2);
    clock.advanceMs(4_100);
    expect([gate.count, clock.pendingTimers]).toEqual([0, 0]);
  });

  it('cannot be hidden behind requests on others: what is still open is never counted too low', () => {
    const { clock, gate, open } = setUp(1_000);
    open('a', 20);
    for (let second = 0; second < 11; second++) {
      // One connection that is used again and again beside 19 that are silent.
      gate.asked('a');
      gate.answered('a');
      clock.advanceMs(1_000);
      expect(gate.count, `after ${second + 1} s`).toBeGreaterThanOrEqual(20);
    }
  });

  it('whose end is told twice, or of which nothing was known, count nothing', () => {
    const { gate, open } = setUp(10);
    gate.gone('a', false);
    gate.gone('a', true);
    gate.answered('a');
    expect(gate.count).toBe(0);
    open('a', 1);
    gate.gone('a', false);
    gate.gone('a', false);
    expect(gate.count).toBe(0);
  });
});

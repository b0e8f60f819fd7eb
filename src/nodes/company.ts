/**
 * Who else there is, for parts that share with all nodes what must not be had N times: a receiver's pace, the probe of
 * one that fails. By a count alone, without a message: it costs nothing, is the same with Redis and without, and holds
 * while either is away. Made by `src/control/ground.ts`, before there is anybody to ask; followed from `control.ts` on.
 */
import type { OtherRun } from './media-runs.ts';

export interface Company {
  /** Nodes that live, this one among them; 1 while nobody else is known. */
  nodes(): number;
  /**
   * For what only one should do at a time: the turns, counted from anywhere, go round by name, so that one that cannot
   * do it keeps nobody else from it for long.
   */
  hasTurn(turn: number): boolean;
  follow(node: string, others: () => readonly Pick<OtherRun, 'node' | 'silentMs' | 'leaseMs'>[]): void;
}

export function createCompany(): Company {
  let living = (): string[] => [];
  let own = '';
  return {
    nodes: () => living().length + 1,
    hasTurn(turn) {
      const all = [...living(), own].toSorted();
      return all[turn % all.length] === own;
    },
    follow(node, others) {
      own = node;
      living = () => [
        ...new Set(others().flatMap((run) => (run.silentMs <= run.leaseMs && run.node !== node ? [run.node] : []))),
      ];
    },
  };
}

/** A turn of which only its place in time matters. */
import type { Turn } from '../../../media/contract/conversation.ts';

export function turn(
  turnId: string,
  role: Turn['role'],
  startMs: number,
  endMs: number,
  kind: Turn['kind'] = 'speech',
): Turn {
  return { turnId, role, startMs, endMs, text: 'x', heardText: 'x', interrupted: false, kind };
}

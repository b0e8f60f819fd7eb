/**
 * What the person may, kept true while pages are open: whatever makes it doubtful has the session read again, so that
 * what a role lost is gone from the page, and the person is told. What was typed stays.
 */
import { effect } from '@preact/signals';
import { readSession } from '../api/accounts.ts';
import { doubts, workspace } from '../api/session.ts';
import { shell as words } from '../texts/en/shell.ts';
import { toast } from '../ui/toast.tsx';

let isReading = false;

export function keepRightsTrue(): void {
  effect(() => {
    if (doubts.value === 0 || isReading) return;
    isReading = true;
    const before = workspace.peek();
    readSession()
      .then(
        () => {
          const now = workspace.peek();
          if (before === null || now?.scopes.join() === before.scopes.join()) return;
          toast(now === null ? words.removed(before.name) : words.roleIs(now.role));
        },
        // Nobody answers: the next doubt asks again.
        () => {},
      )
      .finally(() => {
        isReading = false;
      });
  });
}

/** That nothing of a call may be deleted, for those who may see holds: its own, or one of the whole workspace. */
import { clientOf } from '../../api/request.ts';
import { may } from '../../api/session.ts';
import { call as words } from '../../texts/en/call.ts';
import { to } from '../../ui/address.ts';
import { useLoad } from '../../ui/load.ts';
import { Time } from '../../ui/time.tsx';

const MOST = 200;

export function Held({ enterprise, callUuid }: { enterprise: string; callUuid: string }) {
  const isRead = may('settings:read');
  const hold = useLoad(
    async (signal) => {
      if (!isRead) return null;
      const { data } = (await clientOf(enterprise).listLegalHolds({ limit: MOST }, { signal })).data;
      const own = data.filter((one) => one.callUuid === callUuid || one.callUuid === null);
      return own.at(-1) ?? null;
    },
    [enterprise, callUuid, isRead],
  );
  if (hold.data == null) return null;
  return (
    <a href={to(['w', enterprise, 'settings', 'retention'])}>
      {words.heldSince} <Time at={hold.data.placedAt} />
    </a>
  );
}

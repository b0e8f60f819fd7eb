/** Whether a line's carrier takes its credentials: asked when it is opened. */
import type { PhoneNumber } from '../../../clients/typescript/src/client.ts';
import { clientOf } from '../../api/request.ts';
import { common } from '../../texts/en/common.ts';
import { linesWords as words } from '../../texts/en/settings.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { useLoad } from '../../ui/load.ts';
import { Notice } from '../../ui/notice.tsx';
import { Shown } from '../../ui/states.tsx';
import { Words } from '../../ui/text.tsx';

/** From here on carriers refuse signatures. */
const MUCH_MS = 60_000;

export function LineTest(props: {
  enterprise: string;
  line: PhoneNumber;
  onTried(isFine: boolean): void;
  onClose(): void;
}) {
  const { enterprise, line, onTried, onClose } = props;
  const trial = useLoad(
    async (signal) => {
      const { data } = await clientOf(enterprise).testPhoneNumber({ lineId: line.id }, { signal });
      // A carrier that does not answer says nothing of them.
      if (data.fault !== 'unreachable') onTried(data.ok);
      return data;
    },
    [enterprise, line.id],
  );
  return (
    <Dialog title={words.test} onClose={onClose}>
      <div class="stack">
        <p>
          <Words>{line.number}</Words>
        </p>
        <div role="status" class="stack tight">
          <Shown of={trial} lines={2}>
            {({ ok, problem, carrier, ms, clockAheadMs }) => (
              <>
                <Notice kind={ok ? 'good' : 'error'}>
                  {problem ?? words.works(words.carriers[carrier] ?? carrier, ms)}
                </Notice>
                {clockAheadMs === null || Math.abs(clockAheadMs) < MUCH_MS ? null : (
                  <Notice kind="warn">{words.clock(Math.round(clockAheadMs / 1_000))}</Notice>
                )}
              </>
            )}
          </Shown>
        </div>
        <div class="actions">
          <Button icon="refresh" isBusy={trial.isLoading} onPress={trial.reload}>
            {common.retry}
          </Button>
          <Button kind="main" onPress={onClose}>
            {common.close}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

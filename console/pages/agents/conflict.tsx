/** Two people changed one agent: what the second one's definition changes in the first one's, and whose is next. */
import { agents as words } from '../../texts/en/agents.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Difference } from '../../ui/difference.tsx';
import { asText } from './definition-text.ts';
import type { KnownAgent } from './known-agent.ts';

export function Conflict(props: {
  theirs: KnownAgent;
  mine: string;
  onKeepMine(): Promise<void>;
  onTakeTheirs(): void;
  onClose(): void;
}) {
  const { theirs, mine, onKeepMine, onTakeTheirs, onClose } = props;
  const { definition, latestVersion } = theirs.agent;
  return (
    <Dialog title={words.conflict} isWide onClose={onClose}>
      <div class="stack">
        <p class="soft">{words.conflictHint(latestVersion)}</p>
        <Difference before={asText(definition)} after={mine} label={words.conflict} />
        <div class="actions">
          <Button onPress={onTakeTheirs}>{words.takeTheirs}</Button>
          <Button kind="main" onPress={onKeepMine}>
            {words.keepMine}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

/** Whether the service is in order: each check with what it found and the way out. */
import { useState } from 'preact/hooks';
import type { Examination } from '../../../clients/typescript/src/client.ts';
import { clientOf } from '../../api/request.ts';
import { doctorWords as words } from '../../texts/en/operator.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Section } from '../../ui/page.tsx';
import { Empty } from '../../ui/states.tsx';
import { Words } from '../../ui/text.tsx';

const TONES = { ok: 'good', warn: 'warn', fail: 'bad' } as const;
/** What wants looking at comes first. */
const RANK = { fail: 0, warn: 1, ok: 2 } as const;

export function Doctor() {
  const [found, setFound] = useState<Examination | null>(null);
  async function examine(): Promise<void> {
    setFound((await clientOf('-').examineService()).data);
  }
  const checks = found?.checks.toSorted((a, b) => RANK[a.level] - RANK[b.level]) ?? [];
  const count = (level: keyof typeof RANK): number => checks.filter((one) => one.level === level).length;
  return (
    <Section
      title={words.title}
      about={words.about}
      actions={
        <Button kind="main" icon="check" onPress={examine}>
          {found === null ? words.begin : words.again}
        </Button>
      }
    >
      <div role="status">
        {found === null ? (
          <Empty icon="operator" title={words.notYet}>
            {words.notYetHint}
          </Empty>
        ) : (
          <Notice kind={found.ok ? (count('warn') > 0 ? 'warn' : 'good') : 'error'}>
            {words.counts(count('ok'), count('warn'), count('fail'), found.ms)}
          </Notice>
        )}
      </div>
      <ul class="items">
        {checks.map(({ name, level, detail, wayOut }, at) => (
          <li key={at} class="stack tight">
            <div class="line">
              <Badge tone={TONES[level]}>{words.levels[level]}</Badge>
              <strong>{name}</strong>
            </div>
            <p>
              <Words>{detail}</Words>
            </p>
            {wayOut === null ? null : (
              <p class="soft">
                <Words>{wayOut}</Words>
              </p>
            )}
          </li>
        ))}
      </ul>
    </Section>
  );
}

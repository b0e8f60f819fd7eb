/** What the call was about, and the words in it from which that is known: a click plays them. */
import type { Call } from '../../../clients/typescript/src/client.ts';
import { call as words } from '../../texts/en/call.ts';
import { common } from '../../texts/en/common.ts';
import { Badge } from '../../ui/badge.tsx';
import { Facts } from '../../ui/page.tsx';
import { Empty } from '../../ui/states.tsx';
import { Json, LongText, Words } from '../../ui/text.tsx';

const MOODS = { positive: 'good', neutral: 'quiet', negative: 'bad' } as const;

export function Analysis({ call, onShow }: { call: Call; onShow(turnId: string): void }) {
  if (call.analysisStatus === 'pending') return <Empty title={words.takesTime} />;
  if (call.analysisStatus !== 'ready') return <Empty title={words.noAnalysis}>{words.noAnalysisHint}</Empty>;
  return (
    <div class="stack">
      {call.summary === null ? null : (
        <p class="summary">
          <LongText text={call.summary} />
        </p>
      )}
      <Facts
        facts={[
          ...(call.disposition === null
            ? []
            : [[words.disposition, <Words key="d">{call.disposition}</Words>] as const]),
          [words.intent, <Words key="intent">{call.intent ?? '–'}</Words>],
          [
            words.sentiment,
            call.sentiment === null ? (
              '–'
            ) : (
              <Badge key="mood" tone={MOODS[call.sentiment]}>
                {call.sentiment}
              </Badge>
            ),
          ],
          [
            words.successful,
            call.successful === null ? (
              '–'
            ) : (
              <Badge key="successful" tone={call.successful ? 'good' : 'warn'}>
                {call.successful ? common.yes : common.no}
              </Badge>
            ),
          ],
        ]}
      />
      {call.evidence.length === 0 ? null : (
        <section class="stack tight">
          <h2>{words.evidence}</h2>
          <ul class="items">
            {call.evidence.map(({ turnId, quote }) => (
              <li key={`${turnId}-${quote}`}>
                <button type="button" class="inline quote" onClick={() => onShow(turnId)}>
                  <bdi>“{quote}”</bdi>
                </button>
              </li>
            ))}
          </ul>
        </section>
      )}
      {Object.keys(call.data).length === 0 ? null : (
        <section class="stack tight">
          <h2>{words.data}</h2>
          <Json value={call.data} />
        </section>
      )}
      {call.analysisModel === null ? null : <p class="soft tiny">{words.analysisBy(call.analysisModel)}</p>}
    </div>
  );
}

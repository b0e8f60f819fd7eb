/** How long each reply took, and where the time went: a bar a reply, all to one scale, and its steps behind a click. */
import type { Turn } from '../../../clients/typescript/src/client.ts';
import { call as words } from '../../texts/en/call.ts';
import { Empty } from '../../ui/states.tsx';
import { msWords } from '../../ui/time.tsx';

type Stage = keyof typeof words.stages;
const STAGES = Object.keys(words.stages) as Stage[];

interface Reply extends Record<Stage, number | null> {
  turnId: string;
  stagesMs: number | null;
  mouthToEarMs: number | null;
  agentMs: number;
  steps: Record<string, unknown> | null;
}

interface Spread {
  p50: number;
  p95: number;
  max: number;
  count: number;
}

export interface Latency {
  mouthToEarMs?: Spread | null;
  answerToFirstWordMs?: number | null;
  longestSilenceMs?: number | null;
  turns?: Reply[];
}

export function Replies(props: { latency: Latency | null; turns: readonly Turn[]; onShow(turnId: string): void }) {
  const { latency, turns, onShow } = props;
  const replies = latency?.turns ?? [];
  if (replies.length === 0) return <Empty title={words.noReplies}>{words.noRepliesHint}</Empty>;
  const sumOf = (reply: Reply): number => STAGES.reduce((sum, stage) => sum + (reply[stage] ?? 0), 0);
  const longest = Math.max(...replies.map((reply) => Math.max(sumOf(reply), reply.mouthToEarMs ?? 0)), 1);
  const spread = latency?.mouthToEarMs;
  return (
    <div class="stack">
      <div class="figures">
        {spread == null
          ? null
          : (['p50', 'p95', 'max'] as const).map((name) => (
              <div key={name}>
                <span class="soft">{name}</span>
                <strong>{msWords(spread[name])}</strong>
              </div>
            ))}
      </div>
      <p class="soft tiny">{words.repliesAbout}</p>
      <ul class="legend">
        {STAGES.map((stage, index) => (
          <li key={stage}>
            <span class={`swatch s${index + 1}`} aria-hidden="true" /> {words.stages[stage]}
          </li>
        ))}
      </ul>
      <ol class="waterfall">
        {replies.map((reply) => {
          const text = turns.find(({ turnId }) => turnId === reply.turnId)?.heardText ?? reply.turnId;
          const total = reply.mouthToEarMs ?? reply.stagesMs ?? sumOf(reply);
          return (
            <li key={reply.turnId}>
              <div class="line apart">
                <button type="button" class="inline words" onClick={() => onShow(reply.turnId)}>
                  <bdi>{text}</bdi>
                </button>
                <strong class="number">{msWords(total)}</strong>
              </div>
              <div
                class="bar"
                role="img"
                aria-label={STAGES.map((stage) => `${words.stages[stage]} ${msWords(reply[stage])}`).join(', ')}
              >
                {STAGES.map((stage, index) => (
                  <span
                    key={stage}
                    class={`s${index + 1}`}
                    title={`${words.stages[stage]}: ${msWords(reply[stage])}`}
                    style={{ width: `${(100 * (reply[stage] ?? 0)) / longest}%` }}
                  />
                ))}
              </div>
              {reply.steps === null ? null : <Steps steps={reply.steps} />}
            </li>
          );
        })}
      </ol>
    </div>
  );
}

function Steps({ steps }: { steps: Record<string, unknown> }) {
  const known = Object.entries(words.steps)
    .flatMap(([name, label]) => (typeof steps[name] === 'number' ? [[label, steps[name]] as const] : []))
    .toSorted(([, a], [, b]) => a - b);
  const served = (['listen', 'think', 'speak'] as const).flatMap((part) => {
    const by = steps[part] as { connection?: string; model?: string; voice?: string } | null | undefined;
    return by == null
      ? []
      : [`${words.served[part]}: ${[by.connection, by.model ?? by.voice].filter(Boolean).join(' · ')}`];
  });
  return (
    <details class="steps">
      <summary>{words.replyColumns.bar}</summary>
      <dl>
        {known.map(([label, ms]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd class="number">{msWords(ms)}</dd>
          </div>
        ))}
      </dl>
      {served.length === 0 ? null : <p class="soft tiny">{served.join(', ')}</p>}
    </details>
  );
}

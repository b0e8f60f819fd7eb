/** Who called whom, when, by what, at what cost; what went wrong; the request that made the call. */
import type { Call } from '../../../clients/typescript/src/client.ts';
import { call as words } from '../../texts/en/call.ts';
import { answeredWords, faultWords } from '../../texts/en/calls.ts';
import { to } from '../../ui/address.ts';
import { endedAs } from '../../ui/call-words.tsx';
import { Copy } from '../../ui/copy.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Facts } from '../../ui/page.tsx';
import { Json, LongText, Words } from '../../ui/text.tsx';
import { Time } from '../../ui/time.tsx';
import { HungUpBy } from './hung-up-by.tsx';
import { CallRequest } from './request.tsx';

export function Details({ enterprise, call, agentName }: { enterprise: string; call: Call; agentName: string | null }) {
  const { cost, error } = call;
  const given = Object.keys(call.metadata).length > 0;
  return (
    <div class="stack">
      {error === null ? null : (
        <Notice kind={call.status === 'failed' ? 'error' : 'warn'}>
          <strong>{endedAs(error.code)}</strong>
          <p>
            <LongText text={error.message} />
          </p>
        </Notice>
      )}
      <Facts
        facts={[
          [
            words.id,
            <span key="id" class="line">
              <code>{call.callUuid}</code> <Copy text={call.callUuid} />
            </span>,
          ],
          [words.name, <Words key="name">{call.name}</Words>],
          [words.number, <Words key="to">{call.direction === 'inbound' ? call.fromNumber : call.to}</Words>],
          [words.from, <Words key="from">{call.direction === 'inbound' ? call.to : call.fromNumber}</Words>],
          [
            words.agent,
            <a key="agent" href={to(['w', enterprise, 'agents', call.agentId])}>
              <Words>{agentName ?? call.agentId}</Words>, {words.agentVersion(call.agentVersion)}
            </a>,
          ],
          [words.direction, `${call.direction}, ${call.channel}`],
          [words.created, <Time key="created" at={call.createdAt} isExact />],
          [words.ringing, <Time key="ringing" at={call.ringingAt} isExact />],
          [words.answered, <Time key="answered" at={call.answeredAt} isExact />],
          [words.ended, <Time key="ended" at={call.endedAt} isExact />],
          [words.endedBecause, endedAs(call.endedReason, call.direction)],
          [words.hungUpBy, <HungUpBy key="by" enterprise={enterprise} call={call} />],
          [words.fault, call.fault === null ? '–' : (faultWords[call.fault] ?? call.fault)],
          [words.answeredBy, call.answeredBy === null ? '–' : (answeredWords[call.answeredBy] ?? call.answeredBy)],
          ...(call.leadId === null
            ? []
            : [
                [
                  words.lead,
                  <a key="lead" href={to(['w', enterprise, 'leads'], { lead: call.leadId })}>
                    {call.leadId}
                  </a>,
                ] as const,
              ]),
          ...(call.compliance === null
            ? []
            : [
                [
                  words.compliance,
                  `${call.compliance.permitId}${call.compliance.window === null ? '' : `, ${call.compliance.window}`}`,
                ] as const,
              ]),
          ...(cost === null
            ? []
            : [
                [
                  words.costs,
                  `${cost.total === null ? '–' : `${cost.total} ${cost.currency ?? ''}`}${cost.isComplete ? '' : ` (${words.costPartly})`}`,
                ] as const,
              ]),
        ]}
      />
      {call.recovery.length === 0 ? null : (
        <section class="stack tight">
          <h2>{words.recovery}</h2>
          <ul class="items">
            {call.recovery.map((one) => (
              <li key={`${one.what}-${one.atMs}`}>
                <code>{one.what}</code>{' '}
                <span class="soft">
                  {one.gapMs === null ? '' : `${one.gapMs} ms`} <Words>{one.message}</Words>
                </span>
              </li>
            ))}
          </ul>
        </section>
      )}
      {call.warnings.length === 0 ? null : (
        <section class="stack tight">
          <h2>{words.warnings}</h2>
          <ul class="items">
            {call.warnings.map((one) => (
              <li key={`${one.code}-${one.key}`}>
                <code>{one.code}</code> <Words>{one.key}</Words> <span class="soft">× {one.count}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
      {given ? (
        <section class="stack tight">
          <h2>{words.metadata}</h2>
          <Json value={call.metadata} />
        </section>
      ) : null}
      <CallRequest enterprise={enterprise} callUuid={call.callUuid} />
    </div>
  );
}

/** What is happening, on one day: how many calls, how well, how fast; what is not set up; why nothing is dialled. */
import type { ComponentChildren } from 'preact';
import { type Overview, readOverview } from '../../api/overview.ts';
import { may, session, workspace } from '../../api/session.ts';
import { home as words } from '../../texts/en/home.ts';
import { causeOf } from '../../texts/en/not-dialled.ts';
import { go, to } from '../../ui/address.ts';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icons.tsx';
import { useEvery, useLoad } from '../../ui/load.ts';
import { Notice } from '../../ui/notice.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { Shown } from '../../ui/states.tsx';
import { Words } from '../../ui/text.tsx';
import { msWords, ownZone, Time, today } from '../../ui/time.tsx';
import { NotDialledList } from './not-dialled.tsx';

const REFRESH_MS = 5_000;

function shifted(day: string, days: number): string {
  return new Date(Date.parse(`${day}T12:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10);
}

export function HomePage({ enterprise, query }: { enterprise: string; query: URLSearchParams }) {
  const day = query.get('day') ?? today();
  const isToday = day === today();
  const overview = useLoad((signal) => readOverview(enterprise, day, ownZone, signal), [enterprise, day]);
  useEvery(REFRESH_MS, overview.reload, isToday);
  const goTo = (next: string): void => go(to(['w', enterprise, 'home'], next === today() ? {} : { day: next }));
  return (
    <Page
      title={words.title}
      heading={<Words>{workspace.value?.name ?? words.title}</Words>}
      actions={
        <>
          <Button kind="quiet" icon="left" label={words.yesterday} onPress={() => goTo(shifted(day, -1))} />
          <input
            class="day"
            type="date"
            aria-label={words.day}
            value={day}
            max={today()}
            onChange={(event) => event.currentTarget.value !== '' && goTo(event.currentTarget.value)}
          />
          <Button
            kind="quiet"
            icon="right"
            label={words.nextDay}
            isDisabled={isToday}
            onPress={() => goTo(shifted(day, 1))}
          />
          {isToday ? null : <Button onPress={() => goTo(today())}>{words.today}</Button>}
        </>
      }
    >
      <Shown of={overview} lines={8}>
        {(data) => <Day enterprise={enterprise} overview={data} day={day} isToday={isToday} />}
      </Shown>
    </Page>
  );
}

interface DayProps {
  enterprise: string;
  overview: Overview;
  day: string;
  isToday: boolean;
}

function Day({ enterprise, overview, day, isToday }: DayProps) {
  const { placed, answered, completed, failed, noAnswer, replyMs, live } = overview;
  const start = new Date(`${day}T00:00`);
  const within = {
    createdAfter: start.toISOString(),
    ...(isToday ? {} : { createdBefore: new Date(`${shifted(day, 1)}T00:00`).toISOString() }),
  };
  const list = (more: Record<string, string> = {}): string => to(['w', enterprise, 'calls'], { ...within, ...more });
  const share = (count: number): string =>
    placed === 0 ? '' : words.ofPlaced(`${Math.round((100 * count) / placed)} %`);
  return (
    <>
      <div class="tiles">
        {isToday ? (
          <Tile label={words.live} href={to(['w', enterprise, 'live'])} value={live} isAccent={live > 0} />
        ) : null}
        <Tile label={words.placed} href={list()} value={placed} />
        <Tile label={words.answered} href={list({ minDuration: '0' })} value={answered} about={share(answered)} />
        <Tile label={words.completed} href={list({ status: 'completed' })} value={completed} about={share(completed)} />
        <Tile label={words.noAnswer} href={list({ status: 'no_answer' })} value={noAnswer} about={share(noAnswer)} />
        <Tile
          label={words.failed}
          href={list({ status: 'failed' })}
          value={failed}
          about={share(failed)}
          isBad={failed > 0}
        />
        <Tile
          label={words.reply}
          href={list({ mouthToEarP95Gte: '0' })}
          value={replyMs === null ? '–' : msWords(replyMs.p95)}
          about={replyMs === null ? '' : words.replyAbout(msWords(replyMs.p50))}
        />
      </div>
      {overview.notSetUp.length === 0 ? null : (
        <Section title={words.notSetUp}>
          <ul class="ways">
            {overview.notSetUp.map(({ what, why, wayOut }) => (
              <li key={what}>
                <Icon name="info" />
                <div class="grow">
                  <strong>{why}</strong>
                  <p class="soft">{wayOut}</p>
                </div>
                <SetUp enterprise={enterprise} what={what} />
              </li>
            ))}
          </ul>
        </Section>
      )}
      <Section title={words.notDialled}>
        {overview.notDialled.length === 0 &&
        overview.notSetUp.some(({ what }) => what === 'agent' || what === 'line') ? (
          <p class="soft line">
            <Icon name="info" /> {words.notDialledYet}
          </p>
        ) : overview.notDialled.length === 0 ? (
          <p class="soft line">
            <Icon name="check" /> {words.calm}
          </p>
        ) : (
          <NotDialledList enterprise={enterprise} all={overview.notDialled} within={within} />
        )}
      </Section>
      <div class="columns">
        <Section title={words.codes}>
          {overview.refusals.length === 0 ? (
            <p class="soft">{words.noRefusals}</p>
          ) : (
            <ul class="items">
              {overview.refusals.map(({ code, count, message }) => (
                <li key={code}>
                  <div class="line apart">
                    <span>{causeOf(code)?.what ?? message ?? code}</span> <strong class="number">{count}</strong>
                  </div>
                  <code class="soft tiny">{code}</code>
                </li>
              ))}
            </ul>
          )}
        </Section>
        <div class="stack">
          <Section
            title={words.webhooks}
            actions={
              may('settings:read') ? (
                <a href={to(['w', enterprise, 'settings', 'webhooks'])}>{words.deliveries}</a>
              ) : null
            }
          >
            <WebhookState webhooks={overview.webhooks} />
          </Section>
          {overview.disk === null ? null : (
            <Section title={words.disk}>
              <Disk {...overview.disk} />
            </Section>
          )}
        </div>
      </div>
    </>
  );
}

/** Of API access, operators alone have the switch. */
function SetUp({ enterprise, what }: { enterprise: string; what: string }) {
  const place = words.where[what]?.split('/');
  const isOperators = what === 'api_access' && session.value?.user.isOperator === true;
  if (place === undefined && !isOperators) return null;
  return (
    <a class="button" href={to(isOperators ? ['operator', 'workspaces'] : ['w', enterprise, ...place!])}>
      {words.goThere}
    </a>
  );
}

interface TileProps {
  label: string;
  href: string;
  value: ComponentChildren;
  about?: string;
  isAccent?: boolean;
  isBad?: boolean;
}

function Tile({ label, href, value, about = '', isAccent = false, isBad = false }: TileProps) {
  return (
    <a class={`tile${isAccent ? ' accent' : ''}${isBad ? ' bad' : ''}`} href={href}>
      <span class="soft">{label}</span>
      <strong>{value}</strong>
      <span class="soft tiny">{about}</span>
    </a>
  );
}

function WebhookState({ webhooks }: Pick<Overview, 'webhooks'>) {
  if (webhooks === null || webhooks.url === null) return <p class="soft">{words.noReceiver}</p>;
  return (
    <div class="stack tight">
      {may('settings:read') ? (
        <p class="break">
          <Words>{webhooks.url}</Words>
        </p>
      ) : null}
      {webhooks.failingSince === null ? (
        <p class="soft">{webhooks.waiting === 0 ? words.webhooksCalm : words.webhooksWaiting(webhooks.waiting)}</p>
      ) : (
        <Notice kind="warn">
          {words.failingSince} <Time at={webhooks.failingSince} />, {words.webhooksWaiting(webhooks.waiting)}
        </Notice>
      )}
    </div>
  );
}

function Disk({ freeBytes, totalBytes }: { freeBytes: number; totalBytes: number }) {
  const used = totalBytes === 0 ? 0 : 1 - freeBytes / totalBytes;
  return (
    <div class="stack tight">
      <meter min={0} max={1} low={0.8} high={0.92} optimum={0} value={used} aria-label={words.disk} />
      <p class="soft">{words.diskFree(`${(freeBytes / 1e9).toFixed(1)} GB`)}</p>
    </div>
  );
}

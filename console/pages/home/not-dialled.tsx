/** Why calls are not dialled: what held them back, when, and the page on which that is changed. */
import type { NotDialled } from '../../api/overview.ts';
import { may, session } from '../../api/session.ts';
import { home as words } from '../../texts/en/home.ts';
import { causeOf, places } from '../../texts/en/not-dialled.ts';
import { to } from '../../ui/address.ts';
import { Icon } from '../../ui/icons.tsx';
import { Time, timeWords } from '../../ui/time.tsx';

/** What has not come again for so long is told as over. */
const OVER_MS = 15 * 60_000;

/** `within`: the day, as filters of the call log have it. */
export function NotDialledList(props: {
  enterprise: string;
  all: readonly NotDialled[];
  within: Record<string, string>;
}) {
  const { enterprise, all, within } = props;
  const lasting = all.filter((one) => !isOver(one));
  return (
    <ul class="ways">
      {[...lasting, ...all.filter(isOver)].map((one) => {
        const { reason, of, count, since, last, wayOut } = one;
        const cause = causeOf(reason);
        return (
          <li key={`${of} ${reason}`}>
            <Icon name={isOver(one) ? 'info' : 'warn'} />
            <div class="grow">
              <strong>{cause?.what ?? reason}</strong>{' '}
              {count === null ? null : <span class="soft number">× {count}</span>}
              {since === null ? null : (
                <span class="soft">
                  {' · '}
                  {isOver(one) ? null : `${words.since} `}
                  <Time at={since} />
                  {isOver(one) && timeWords(since) !== timeWords(last ?? since) ? (
                    <>
                      {' '}
                      {words.until} <Time at={last} />
                    </>
                  ) : null}
                </span>
              )}
              <p class="soft">{cause?.wayOut ?? wayOut}</p>
              <p class="line">
                <Place enterprise={enterprise} place={cause?.place} />
                {of === 'calls' ? (
                  <a href={to(['w', enterprise, 'calls'], { ...within, endedReason: reason })}>{words.theCalls}</a>
                ) : null}
              </p>
            </div>
          </li>
        );
      })}
    </ul>
  );
}

const isOver = ({ last }: NotDialled): boolean => last !== null && Date.now() - Date.parse(last) > OVER_MS;

/** A link only for whom the page is. */
function Place({ enterprise, place }: { enterprise: string; place: keyof typeof places | undefined }) {
  if (place === undefined) return null;
  const { path, scope, name } = places[place];
  const isOperators = path[0] === 'operator';
  if (isOperators ? session.value?.user.isOperator !== true : !may(scope)) return null;
  return <a href={to(isOperators ? path : ['w', enterprise, ...path])}>{name}</a>;
}

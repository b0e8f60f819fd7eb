/** The operator's side: workspaces, what the service runs as, whether it is in order, and what its providers cost. */
import { operator as words } from '../../texts/en/operator.ts';
import { to } from '../../ui/address.ts';
import { lazy, type Part } from '../../ui/lazy.tsx';
import { Page, Tabs } from '../../ui/page.tsx';

type Place = keyof typeof words.places;

const PLACES: Readonly<Record<Place, Part<object>>> = {
  workspaces: lazy(async () => (await import('./workspaces.tsx')).Workspaces),
  service: lazy(async () => (await import('./service.tsx')).Service),
  doctor: lazy(async () => (await import('./doctor.tsx')).Doctor),
  prices: lazy(async () => (await import('./prices.tsx')).Prices),
};

export function OperatorPage({ rest }: { rest: readonly string[] }) {
  const place = Object.hasOwn(PLACES, rest[0] ?? '') ? (rest[0] as Place) : 'workspaces';
  const Shown = PLACES[place];
  return (
    <Page title={words.places[place]} heading={words.heading} about={words.about}>
      <Tabs
        label={words.heading}
        tabs={(Object.keys(PLACES) as Place[]).map((one) => ({
          label: words.places[one],
          href: to(['operator', one]),
          isHere: one === place,
        }))}
      />
      <Shown />
    </Page>
  );
}

import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ApiFixture, createApiFixture } from './api-fixture.ts';
import { signedIn } from './console-people.ts';

let api: ApiFixture;
beforeAll(async () => {
  api = await createApiFixture();
});
afterAll(() => api.close());

const VIEWS = '/w/acme/views';
const view = { name: 'Failed', query: 'status=failed' };

it('a view is seen by who made it; a shared one by everybody, and changed by those who may change settings', async () => {
  const [mia, leo, owner] = [
    await signedIn(api, 'analyst', { name: 'Mia' }),
    await signedIn(api, 'supervisor', { name: 'Leo' }),
    await signedIn(api, 'owner', { name: 'Ann' }),
  ];
  const names = async (who: typeof mia) =>
    (await who.ask('GET', VIEWS))
      .json()
      .data.map((one: { name: string; isMine: boolean; madeBy: string }) => [one.name, one.isMine, one.madeBy]);
  const made = await mia.ask('POST', VIEWS, { payload: view });
  expect(made.statusCode, made.body).toBe(201);
  const { id } = made.json().view;
  expect(await names(mia)).toEqual([['Failed', true, 'Mia']]);
  expect(await names(leo)).toEqual([]);
  // His own, of the same name.
  expect((await leo.ask('POST', VIEWS, { payload: { ...view, name: 'failed' } })).statusCode).toBe(201);
  expect((await mia.ask('POST', VIEWS, { payload: { ...view, name: 'FAILED' } })).json().code).toBe('already_exists');

  for (const who of [leo, owner]) {
    expect((await who.ask('PATCH', `${VIEWS}/${id}`, { payload: { name: 'x' } })).json().code).toBe('view_not_found');
    expect((await who.ask('DELETE', `${VIEWS}/${id}`)).statusCode).toBe(404);
  }
  expect((await mia.ask('PATCH', `${VIEWS}/${id}`, { payload: { isShared: true } })).json().view.isShared).toBe(true);
  expect(await names(leo)).toEqual([
    ['Failed', false, 'Mia'],
    ['failed', true, 'Leo'],
  ]);
  expect((await leo.ask('PATCH', `${VIEWS}/${id}`, { payload: { name: 'x' } })).statusCode).toBe(404);
  expect((await owner.ask('PATCH', `${VIEWS}/${id}`, { payload: { name: 'All failed' } })).statusCode).toBe(200);
  expect(await names(mia)).toEqual([['All failed', true, 'Mia']]);
  const gone = await owner.ask('DELETE', `${VIEWS}/${id}`);
  expect(gone.statusCode).toBe(204);
  expect(await names(mia)).toEqual([]);
});

it('views are of one workspace, go with their maker, and are at most a hundred', async () => {
  const jo = await signedIn(api, 'analyst');
  const other = await signedIn(api, 'owner', { tenant: api.other });
  const { id } = (await jo.ask('POST', VIEWS, { payload: { ...view, isShared: true } })).json().view;
  expect((await other.ask('GET', '/w/other/views')).json().data).toEqual([]);
  expect((await other.ask('DELETE', `/w/other/views/${id}`)).statusCode).toBe(404);
  const leo = await signedIn(api, 'analyst');
  expect((await leo.ask('GET', VIEWS)).json().data.map((one: { id: string }) => one.id)).toContain(id);
  await api.database.query('DELETE FROM memberships WHERE user_id = $1', [jo.person.id]);
  expect((await leo.ask('GET', VIEWS)).json().data).not.toContainEqual(expect.objectContaining({ id }));

  await api.database.query(
    `INSERT INTO saved_views (id, workspace_id, user_id, name, query)
     SELECT gen_random_uuid(), $1, $2, 'v' || n, '' FROM generate_series(1, 100) AS n`,
    [api.acme.workspaceId, leo.person.id],
  );
  expect((await leo.ask('POST', VIEWS, { payload: view })).json()).toMatchObject({
    code: 'setting_refused',
    details: [{ issue: expect.stringContaining('remove one') }],
  });
});

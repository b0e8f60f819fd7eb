import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { hasChromium } from './support/chromium.ts';
import { useRig } from './support/rig.ts';

const sri = (bytes: ArrayBuffer): string =>
  `sha384-${createHash('sha384').update(Buffer.from(bytes)).digest('base64')}`;

interface Versions {
  current: string;
  versions: [{ version: string; integrity: string }];
}

async function versionsOf(get: (path: string) => Promise<Response>): Promise<Versions> {
  return (await (await get('/embed/versions.json')).json()) as Versions;
}

describe.skipIf(!hasChromium)('the embed script is served', () => {
  const rig = useRig();
  const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(rig.live.url + path, { headers });

  it('evergreen for 5 min, and for ever under its version with the published hash', async () => {
    const evergreen = await get('/embed.js');
    expect(evergreen.headers.get('cache-control')).toBe('public, max-age=300, stale-while-revalidate=86400');
    expect(evergreen.headers.get('access-control-allow-origin')).toBe('*');
    expect(evergreen.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    const { current, versions } = await versionsOf(get);
    const pinned = await get(`/embed/${current}.js`);
    expect(pinned.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    const known = versions.find((one) => one.version === current)!;
    expect(sri(await pinned.arrayBuffer())).toBe(known.integrity);
    expect(sri(await evergreen.arrayBuffer())).toBe(known.integrity);
  });

  it('compressed as asked, and not again when nothing changed', async () => {
    for (const encoding of ['br', 'gzip', 'identity']) {
      const answer = await get('/embed.js', { 'accept-encoding': encoding });
      expect(answer.headers.get('content-encoding')).toBe(encoding === 'identity' ? null : encoding);
      expect(answer.headers.get('vary')).toBe('accept-encoding');
      const etag = answer.headers.get('etag')!;
      expect((await get('/embed.js', { 'if-none-match': etag })).status).toBe(304);
    }
  });

  it('and nothing else is', async () => {
    for (const path of [
      '/embed/9.9.9.js',
      '/embed/assets/session-000000000000.js',
      '/embed/..%2fpackage.json',
      '/talk/pk_1/no-uuid',
      '/talk/p"k/0199f0a2-6c1e-7b7a-9a58-3f6b6f0a2c11',
    ]) {
      expect((await get(path)).status, path).toBeGreaterThanOrEqual(400);
    }
  });

  it('under a hash that a page pins: the right one runs, a wrong one does not', async () => {
    const { versions } = await versionsOf(get);
    const [{ version, integrity }] = versions;
    const pinned = (hash: string): string =>
      rig
        .script('data-ui="custom"')
        .replace('/embed.js"', `/embed/${version}.js" crossorigin="anonymous" integrity="${hash}"`);
    const good = await rig.open(pinned(integrity));
    expect(await good.page.evaluate('ServiceVoice.start().then((one) => one.status)')).toBe('connected');
    await good.close();
    const bad = await rig.open(pinned(`sha384-${'A'.repeat(64)}`), { waitForApi: false });
    await rig.live.waitFor('the refusal', () => bad.errors.some((one) => /integrity/i.test(one)));
    expect(await bad.page.evaluate('typeof window.ServiceVoice')).toBe('undefined');
    await bad.close();
  });

  it('with a talk page that only the websites of its key may hold in a frame', async () => {
    const talk = `${rig.live.url}/talk/pk_1/0199f0a2-6c1e-7b7a-9a58-3f6b6f0a2c11`;
    const framed = async (framedBy: string[]): Promise<boolean> => {
      rig.live.framedBy = framedBy;
      const visitor = await rig.open(`<iframe src="${talk}" allow="microphone; autoplay"></iframe>`, {
        waitForApi: false,
      });
      const isShown = (await visitor.page.frameLocator('iframe').locator('html').getAttribute('lang')) === 'en';
      const hasPage = isShown && (await visitor.page.frameLocator('iframe').locator('#talk').count()) === 1;
      await visitor.close();
      return hasPage;
    };
    expect(await framed(['https://*.example.com'])).toBe(false);
    expect(await framed(['https://*.example.com', rig.site.url])).toBe(true);
    rig.live.framedBy = [];
    expect((await get('/embed/doctor')).headers.get('content-security-policy')).toContain("frame-ancestors 'self'");
  });
});

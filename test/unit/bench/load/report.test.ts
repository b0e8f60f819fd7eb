/** The report as a file: what its policy names is what stands in it, and foreign text is text. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dataIn, html, scriptText } from '../../../../bench/load/report/html.ts';
import { writeReport } from '../../../../bench/load/report/write-report.ts';
import { emptyRun, HOSTILE, richRun } from '../../../support/load-runs/rich-run.ts';

let folder: string;
let page: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-report-file-'));
  writeReport(richRun(folder), join(folder, 'run.html'));
  page = readFileSync(join(folder, 'run.html'), 'utf8');
});
afterAll(() => rmSync(folder, { recursive: true }));

const elements = (name: string): string[] =>
  [...page.matchAll(new RegExp(`<${name}(?: [^>]*)?>(.*?)</${name}>`, 'gs'))].map(([, inner]) => inner!);
const hashed = (text: string): string => `&#39;sha256-${createHash('sha256').update(text).digest('base64')}&#39;`;

describe('the file', () => {
  it('has two scripts and one style sheet, which its policy names by their hashes, and data', () => {
    const [data, ...scripts] = elements('script');
    expect(scripts).toHaveLength(2);
    expect(scripts[0]).toContain('uPlot');
    const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(page)![1]!;
    expect(policy).toContain(`script-src ${scripts.map(hashed).join(' ')};`);
    expect(policy).toContain(`style-src ${elements('style').map(hashed).join(' ')};`);
    expect(policy).toMatch(/^default-src &#39;none&#39;;/);
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(JSON.parse(data!).length).toBeGreaterThan(10);
  });

  it('holds foreign text only as text', () => {
    expect(page).not.toContain(HOSTILE.slice(0, 20));
    expect(page).not.toContain('<img');
    expect(page).toContain('&lt;/script&gt;&lt;script&gt;document.title=&quot;owned&quot;');
  });

  it('refers to nothing outside', () => {
    const addresses = [...page.matchAll(/\b(?:src|href|action|srcset|poster|data)="([^"]*)"/g)].map(([, one]) => one!);
    expect(addresses.length).toBeGreaterThan(15);
    expect(addresses.filter((one) => !/^(#|data:audio\/wav;base64,)/.test(one))).toEqual([]);
  });

  it('is whole or not there', () => {
    const taken = join(folder, 'taken');
    mkdirSync(taken);
    expect(() => writeReport(emptyRun(), taken)).toThrow();
    expect(existsSync(`${taken}.part`)).toBe(false);
  });
});

describe('what is put into HTML', () => {
  it('is escaped wherever it stands, but for HTML itself', () => {
    const inner = html`<b title="${'"\'&'}">${['<i>', html`<u>${1}</u>`, null, false]}</b>`;
    expect(inner.text).toBe('<b title="&quot;&#39;&amp;">&lt;i&gt;<u>1</u></b>');
  });

  it('has no characters that steer a reader', () => {
    expect(html`${'a\u0000b\u202ec\u2066d\ud800e\u001bf\tg'}`.text).toBe('a�b�c�d�e�f\tg');
  });

  it('cannot end a script, neither as data nor as code', () => {
    expect(dataIn({ a: '</script><!--\u2028&' }).text).toBe('{"a":"\\u003c/script\\u003e\\u003c!--\\u2028\\u0026"}');
    expect(scriptText('const a = "</script><!--</SCRIPT>";\r\n')).toBe('const a = "<\\/script><\\!--<\\/SCRIPT>";\n');
  });
});

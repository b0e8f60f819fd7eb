/** docs/decisions/engine-conformance.md names the official clients that judge the emulators, as they are installed. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const page = readFileSync('docs/decisions/engine-conformance.md', 'utf8');
const { devDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  devDependencies: Record<string, string>;
};
const rows = [...page.matchAll(/^\| (\w+) \| `([^`]+)` ([\d.]+) \| .* \| (.+) \|$/gm)];

test.each(rows.map(([, provider, name, version, files]) => [provider, name, version, files] as const))(
  'the client of %s is %s %s, and its tests use it',
  (_provider, name, version, files) => {
    expect(devDependencies[name!]).toBe(version);
    const named = files!.split(', ').map((file) => file.replaceAll('`', ''));
    for (const file of named) {
      const test = readFileSync(join('test/integration/emulators', file), 'utf8');
      expect(test).toContain(`'${name}`);
    }
  },
);

test('each provider has one', () => {
  expect(rows).toHaveLength(7);
});

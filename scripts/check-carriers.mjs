/**
 * There is one list of carriers (`media/contract/carriers.ts`) and one map a side: no other file of `src` and `media`
 * names a carrier outside its own folder, be it in a text, a key or an identifier (comments may). And all sides have
 * the same folders. Called by `check.mjs`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { root } from './bootstrap.mjs';

const SIDES = ['src/carriers', 'media/io/carriers', 'bench/emulators'];
/** What all emulated carriers share, and emulated providers. */
const NO_CARRIERS = new Set(['bench/emulators/callees', 'bench/emulators/personas', 'bench/emulators/providers']);
const MAY_NAME_THEM = new Set([
  'media/contract/carriers.ts',
  'src/carriers/carriers.ts',
  'src/carriers/emulated-account.ts',
  'media/io/carriers/codecs.ts',
]);

const foldersOf = (side) =>
  readdirSync(join(root, side), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !NO_CARRIERS.has(`${side}/${entry.name}`))
    .map(({ name }) => name)
    .sort();

/** In lower case, each word between dashes: `createTinCanCarrier` and `PARLEY_TIN_CAN_…` both hold `-tin-can-`. */
const wordsOf = (text) =>
  `-${text
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')}-`;

function* filesBelow(folder) {
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) yield* filesBelow(path);
    else if (path.endsWith('.ts')) yield path;
  }
}

/** `line: text` of each word of the code, comments apart, that holds a carrier's name. */
function namedIn(path, names) {
  const source = ts.createSourceFile(path, readFileSync(join(root, path), 'utf8'), ts.ScriptTarget.Latest);
  const found = [];
  const visit = (node) => {
    const { text } = node;
    if (
      typeof text === 'string' &&
      !ts.isSourceFile(node) &&
      names.some((name) => wordsOf(text).includes(wordsOf(name)))
    ) {
      found.push(
        `${path}:${source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1}: ${text.slice(0, 80)}`,
      );
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

const [names, ...others] = SIDES.map(foldersOf);
const faults = [];
for (const [index, folders] of others.entries()) {
  if (folders.join() !== names.join()) {
    faults.push(`${SIDES[0]} has the folders ${names.join(', ')} and ${SIDES[index + 1]} has ${folders.join(', ')}`);
  }
}
let files = 0;
if (names.length === 0) faults.push(`${SIDES[0]} has no folder of a carrier: this looked at the wrong tree`);
else {
  for (const path of [...filesBelow('src'), ...filesBelow('media')]) {
    files++;
    const isOwn = SIDES.some((side) => names.some((name) => path.startsWith(`${side}/${name}/`)));
    if (!isOwn && !MAY_NAME_THEM.has(path)) faults.push(...namedIn(path, names));
  }
}
if (faults.length > 0) {
  console.error(
    `A carrier is named outside its folder. What is to be known of it belongs into its declaration in media/contract/carriers.ts:\n  ${faults.join('\n  ')}`,
  );
  process.exit(1);
}
console.log(`${files} files name no carrier; there are: ${names.join(', ')}`);

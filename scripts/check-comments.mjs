/**
 * Comments stay within the formatter's width, which the formatter does not hold itself: it leaves comments alone. A
 * line whose comment is one word (an address) may be longer. Called by `check.mjs`.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { root } from './bootstrap.mjs';

const COLUMNS = 120;
const FOLDERS = ['bench', 'bin', 'clients', 'console', 'media', 'scripts', 'src', 'test', 'widget'];
const SCRIPT = /\.(tsx?|mjs|js|cjs)$/;
const STYLE = /\.css$/;

const isLong = (line) => line.length > COLUMNS && [...line].length > COLUMNS;

/** Where texts, templates and regular expressions stand: what looks like a comment there is none. */
function literalsOf(text, path) {
  const spans = [];
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest);
  const visit = (node) => {
    const { kind } = node;
    if (
      ts.isStringLiteralLike(node) ||
      ts.isTemplateExpression(node) ||
      kind === ts.SyntaxKind.RegularExpressionLiteral
    ) {
      spans.push([node.getStart(source), node.end]);
    }
    // What stands between the braces of a template holds no comments here; the whole template is one span.
    if (!ts.isTemplateExpression(node)) ts.forEachChild(node, visit);
  };
  visit(source);
  return spans;
}

/** `[start, end)` of each comment. */
function commentsOf(text, path) {
  const spans = SCRIPT.test(path) ? literalsOf(text, path) : [];
  const found = [];
  let next = 0;
  for (let at = 0; at < text.length; ) {
    while (next < spans.length && spans[next][1] <= at) next++;
    if (next < spans.length && at >= spans[next][0]) {
      at = spans[next][1];
      continue;
    }
    const isBlock = text.startsWith('/*', at);
    if (!isBlock && !(SCRIPT.test(path) && text.startsWith('//', at))) {
      at++;
      continue;
    }
    const close = isBlock ? text.indexOf('*/', at) + 2 : text.indexOf('\n', at);
    const end = close < at ? text.length : close;
    found.push([at, end]);
    at = end;
  }
  return found;
}

/** `line: columns` of each line of a comment that is too long. */
function longComments(text, path) {
  if (!text.split('\n').some(isLong)) return [];
  const comments = commentsOf(text, path);
  const found = [];
  let start = 0;
  for (const [index, line] of text.split('\n').entries()) {
    const end = start + line.length;
    const comment = isLong(line) && comments.find(([from, until]) => from <= end && until >= end);
    if (comment) {
      const words = line.slice(Math.max(0, comment[0] - start)).replace(/^[\s/*]+/, '');
      if (/\s/.test(words.replace(/\s*\*\/$/, ''))) found.push(`${index + 1}: ${[...line].length} columns`);
    }
    start = end + 1;
  }
  return found;
}

const listed = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard', ...FOLDERS], {
  cwd: root,
  encoding: 'utf8',
  maxBuffer: 64 * 1024 * 1024,
});
// A copy without git.
if (listed.status !== 0) process.exit(0);
const files = listed.stdout
  .split('\0')
  .filter((file) => (SCRIPT.test(file) || STYLE.test(file)) && existsSync(join(root, file)));
if (files.length === 0) throw new Error('git lists no source file: this looked at the wrong tree');
const faults = files.flatMap((file) =>
  longComments(readFileSync(join(root, file), 'utf8'), file).map((fault) => `${file}:${fault}`),
);
if (faults.length > 0) {
  console.error(`Comments hold to ${COLUMNS} columns, like the code; break these lines:\n  ${faults.join('\n  ')}`);
  process.exit(1);
}
console.log(`the comments of ${files.length} files hold to ${COLUMNS} columns`);

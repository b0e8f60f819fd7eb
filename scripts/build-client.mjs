/**
 * Makes `clients/typescript/src/generated.ts` of the published document: its schemas as types, its operations as a
 * table. `--check` only says whether the file is what it would be. The document is made of the sources, so nothing
 * needs to run or to be built before.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const TARGET = join(root, 'clients', 'typescript', 'src', 'generated.ts');
const HEAD = `/**
 * Made by \`node scripts/build-client.mjs\` of the service's own \`/openapi.json\`; not changed by hand. \`npm run check\`
 * fails when it is stale.
 */
`;
/** What is no request of a program: pages, scripts and preflights. */
const PROGRAMS_WANT = /json|text\/plain|audio\//;

async function readDocument() {
  // Inside the repository, so that packages are found from there.
  const folder = mkdtempSync(join(root, 'node_modules', '.parley-client-'));
  try {
    const outfile = join(folder, 'document.mjs');
    await build({
      stdin: {
        contents: `
          export { buildDocument } from './src/api/openapi/document.ts';
          export { operationsWithoutServer } from './src/api/openapi/without-a-server.ts';`,
        resolveDir: root,
      },
      bundle: true,
      platform: 'node',
      format: 'esm',
      packages: 'external',
      outfile,
      logLevel: 'error',
    });
    const { buildDocument, operationsWithoutServer } = await import(pathToFileURL(outfile).href);
    return await buildDocument(await operationsWithoutServer(), 'https://voice.example.com');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const nameOf = (ref) => ref.split('/').at(-1);
const isName = (text) => /^[A-Za-z_$][\w$]*$/.test(text);
const property = (name) => (isName(name) ? name : JSON.stringify(name));

/** Of a comment's text: the width of code without what may stand before it, four levels deep. */
const COMMENT_COLUMNS = 104;

function wrapped(line) {
  const lines = [''];
  for (const word of line.split(' ')) {
    const longer = lines.at(-1) === '' ? word : `${lines.at(-1)} ${word}`;
    if (longer.length <= COMMENT_COLUMNS) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

function comment(words, indent = '') {
  const text = (words ?? '').replaceAll('*/', '* /').trim();
  if (text === '') return '';
  const lines = text.split('\n').flatMap((line) => wrapped(line.trim()));
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join('\n')}\n${indent} */\n`;
}

/** A JSON Schema of the document as a TypeScript type. */
function typeOf(schema) {
  if (schema === undefined || schema === true || Object.keys(schema).length === 0) return 'unknown';
  if (schema === false) return 'never';
  if (schema.$ref !== undefined) return nameOf(schema.$ref);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((one) => JSON.stringify(one)).join(' | ');
  for (const key of ['anyOf', 'oneOf']) {
    if (schema[key] !== undefined) return [...new Set(schema[key].map(typeOf))].join(' | ');
  }
  if (schema.allOf !== undefined) return schema.allOf.map((one) => `(${typeOf(one)})`).join(' & ');
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeOf({ ...schema, type })).join(' | ');
  switch (schema.type) {
    case 'string':
      return schema.format === 'binary' ? 'Blob' : 'string';
    case 'integer':
    case 'number':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'null':
      return 'null';
    case 'array':
      return `(${typeOf(schema.items)})[]`;
    case 'object':
      return objectType(schema);
    default:
      return 'unknown';
  }
}

function objectType(schema) {
  const entries = Object.entries(schema.properties ?? {});
  const rest = schema.additionalProperties;
  const others =
    rest === undefined || rest === false ? null : `{ [key: string]: ${typeOf(rest === true ? {} : rest)} }`;
  if (entries.length === 0) return others ?? (rest === false ? 'Record<string, never>' : '{ [key: string]: unknown }');
  const fields = entries.map(([name, inner]) => {
    const optional = schema.required?.includes(name) ? '' : '?';
    return `${comment(inner.description)}${property(name)}${optional}: ${typeOf(inner)};`;
  });
  // What else an object may hold is for the service to say; a named field keeps its type.
  return `{ ${fields.join('\n')} }`;
}

function parameterFields(parameters) {
  return parameters.map((one) => {
    const optional = one.required === true ? '' : '?';
    const words = one.description ?? one.schema?.description;
    return `${comment(words)}${property(one.name)}${optional}: ${typeOf(one.schema)};`;
  });
}

function dataType(responses) {
  const types = [];
  for (const [status, { content = {} }] of Object.entries(responses)) {
    if (!/^2/.test(status)) continue;
    for (const [type, { schema }] of Object.entries(content)) {
      if (type === 'application/json') types.push(typeOf(schema));
      else if (type === 'text/event-stream') continue;
      else types.push(/^text\/|ndjson/.test(type) ? 'string' : 'ArrayBuffer');
    }
  }
  // A redirection is followed.
  if (types.length === 0 && responses[302] !== undefined) return 'ArrayBuffer';
  return types.length === 0 ? 'undefined' : [...new Set(types)].join(' | ');
}

function isForPrograms({ responses }) {
  const types = Object.entries(responses)
    .filter(([status]) => /^[23]/.test(status))
    .flatMap(([, { content = {} }]) => Object.keys(content));
  return responses[302] !== undefined || types.some((type) => PROGRAMS_WANT.test(type));
}

export function generate(document) {
  const schemas = Object.entries(document.components.schemas).map(([name, schema]) => {
    const head = comment(schema.description);
    const type = typeOf(schema);
    const isObject = schema.type === 'object' && Object.keys(schema.properties ?? {}).length > 0;
    return isObject ? `${head}export interface ${name} ${type}` : `${head}export type ${name} = ${type};`;
  });
  const kinds = [];
  const table = [];
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      if (method === 'options' || !isForPrograms(operation)) continue;
      const parameters = operation.parameters ?? [];
      const named = parameters.filter((one) => one.in !== 'header');
      const fields = parameterFields(named);
      const { requestBody } = operation;
      if (requestBody !== undefined) {
        const [[mediaType, { schema }]] = Object.entries(requestBody.content);
        const type = /json|form-data/.test(mediaType) ? typeOf(schema) : 'string';
        fields.push(`body${requestBody.required === true ? '' : '?'}: ${type};`);
      }
      const input = fields.length === 0 ? 'Record<never, never>' : `{ ${fields.join('\n')} }`;
      const words = `${operation.summary}.\n\n${operation.description}`;
      kinds.push(
        `${comment(words)}${operation.operationId}: { input: ${input}; data: ${dataType(operation.responses)} };`,
      );
      const takesKey = parameters.some((one) => one.in === 'header' && one.name === 'Idempotency-Key');
      const query = named.filter((one) => one.in === 'query').map((one) => one.name);
      const isForm = requestBody?.content['multipart/form-data'] !== undefined;
      const facts = {
        ...{ method: method.toUpperCase(), path, query, takesKey, hasBody: requestBody !== undefined },
        ...(isForm ? { isForm } : {}),
      };
      table.push(`${operation.operationId}: ${JSON.stringify(facts)},`);
    }
  }
  return [
    HEAD,
    "import type { OperationFacts } from './exchange.ts';\n",
    ...schemas,
    `/** What each operation takes and gives. */\nexport interface Operations {\n${kinds.join('\n')}\n}`,
    `export const OPERATIONS: Readonly<Record<keyof Operations, OperationFacts>> = {\n${table.join('\n')}\n};`,
  ].join('\n');
}

function formatted(text) {
  const biome = join(root, 'node_modules', '.bin', 'biome');
  const done = spawnSync(biome, ['format', '--stdin-file-path', TARGET], { input: text, cwd: root, encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`the generated client could not be formatted: ${done.stderr}`);
  return done.stdout;
}

const made = formatted(generate(await readDocument()));
if (process.argv.includes('--check')) {
  if (made !== readFileSync(TARGET, 'utf8')) {
    console.error('clients/typescript/src/generated.ts is stale; make it anew: node scripts/build-client.mjs');
    process.exit(1);
  }
} else writeFileSync(TARGET, made);

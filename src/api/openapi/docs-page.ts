/**
 * `/docs`: the operations as one static page, without a script and without anything from elsewhere, so that it works offline and under
 * the strictest policy. Made from the OpenAPI document, which is what it shows.
 */
interface Schema {
  $ref?: string;
  type?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  description?: string;
  pattern?: string;
  format?: string;
}

interface Shown {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  parameters?: { name: string; in: string; description?: string; schema: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { description: string; content: Record<string, { schema: Schema }> }>;
}

interface ShownDocument {
  info: { description: string };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Shown>>;
  components: { schemas: Record<string, Schema> };
}

export const DOCS_STYLE = `
:root{color-scheme:light dark}
body{font:16px/1.55 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
code,pre{font:14px/1.45 ui-monospace,monospace;background:#8881;border-radius:4px}
code{padding:.1em .3em}pre{padding:.8em;overflow:auto}
h2{margin-top:2.5rem;border-bottom:1px solid #8886}h3{margin-top:2rem}
table{border-collapse:collapse;width:100%;margin:.6rem 0}
th,td{text-align:left;vertical-align:top;padding:.3rem .6rem .3rem 0;border-bottom:1px solid #8883}
.method{font-weight:700;text-transform:uppercase}summary{cursor:pointer;margin:.4rem 0}
`;

/** `described` is what `buildDocument` made for `publicUrl`. */
export function docsPage(described: object, publicUrl: string): string {
  const document = described as ShownDocument;
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const sections = document.tags.map(({ name, description }) => {
    const own = operations.filter(({ operation }) => operation.tags.includes(name));
    return `<h2>${text(name)}</h2><p>${text(description)}</p>${own.map((one) => section(one, publicUrl)).join('')}`;
  });
  const contents = operations.map(
    ({ path, method, operation }) =>
      `<tr><td class="method">${method}</td><td><a href="#${operation.operationId}"><code>${text(path)}</code></a></td><td>${text(operation.summary)}</td></tr>`,
  );
  const schemas = Object.entries(document.components.schemas).map(
    ([name, schema]) =>
      `<h3 id="schema-${text(name)}">${text(name)}</h3>${paragraph(schema.description)}${fields(schema)}`,
  );
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Parley API</title><style>${DOCS_STYLE}</style></head><body><main>
<h1>Parley API</h1>${paragraph(document.info.description)}
<p>For programs: <a href="/openapi.json"><code>/openapi.json</code></a> (OpenAPI 3.1).</p>
<table><tbody>${contents.join('')}</tbody></table>
${sections.join('')}<h2>Shapes</h2>${schemas.join('')}
</main></body></html>`;
}

function section(
  { path, method, operation }: { path: string; method: string; operation: Shown },
  base: string,
): string {
  const { parameters = [], requestBody, responses } = operation;
  const given = parameters.map(
    (one) =>
      `<tr><td><code>${text(one.name)}</code></td><td>${one.in}</td><td>${rich(one.description ?? shape(one.schema))}</td></tr>`,
  );
  const body = requestBody?.content['application/json']?.schema;
  const answers = Object.entries(responses).map(([status, answer]) => {
    const shapes = Object.entries(answer.content).map(([type, { schema }]) => `<code>${type}</code> ${shape(schema)}`);
    return `<tr><td>${status}</td><td>${paragraph(answer.description)}</td><td>${shapes.join('<br>')}</td></tr>`;
  });
  return `<h3 id="${operation.operationId}"><span class="method">${method}</span> <code>${text(path)}</code></h3>
<p><strong>${text(operation.summary)}</strong></p>${paragraph(operation.description)}
${given.length === 0 ? '' : `<table><tbody>${given.join('')}</tbody></table>`}
${body === undefined ? '' : `<p>Body: ${shape(body)}</p>`}
<pre>${text(curl(method, path, base, body !== undefined, operation.description.includes('key needs')))}</pre>
<details><summary>Answers and errors</summary><table><tbody>${answers.join('')}</tbody></table></details>`;
}

function curl(method: string, path: string, base: string, hasBody: boolean, isKeyed: boolean): string {
  const lines = [`curl ${method === 'get' ? '' : `-X ${method.toUpperCase()} `}'${base}${path}'`];
  if (isKeyed) lines.push(`-H 'Authorization: Bearer sv_live_…'`);
  if (hasBody) {
    lines.push(`-H 'Content-Type: application/json'`);
    lines.push(`-d '{"to":"+14155550123","agentId":"…","enterprise":"…","from":"…","name":"Asha"}'`);
  }
  return lines.join(' \\\n  ');
}

function fields(schema: Schema): string {
  const rows = Object.entries(schema.properties ?? {}).map(
    ([name, inner]) =>
      `<tr><td><code>${text(name)}</code>${schema.required?.includes(name) ? '' : ' (optional)'}</td><td>${shape(inner)}</td><td>${rich(inner.description ?? '')}</td></tr>`,
  );
  return rows.length === 0 ? `<p>${shape(schema)}</p>` : `<table><tbody>${rows.join('')}</tbody></table>`;
}

function shape(schema: Schema): string {
  if (schema.$ref !== undefined) {
    const name = text(schema.$ref.split('/').at(-1) ?? '');
    return `<a href="#schema-${name}">${name}</a>`;
  }
  if (schema.anyOf !== undefined) return schema.anyOf.map(shape).join(' or ');
  if (schema.const !== undefined) return `<code>${text(JSON.stringify(schema.const))}</code>`;
  if (schema.enum !== undefined) return schema.enum.map((one) => `<code>${text(String(one))}</code>`).join(', ');
  if (schema.items !== undefined) return `list of ${shape(schema.items)}`;
  if (Object.keys(schema.properties ?? {}).length > 0) return fields(schema);
  return text([schema.type ?? 'anything', schema.format].filter(Boolean).join(', '));
}

function paragraph(words: string | undefined): string {
  return (words ?? '')
    .split('\n\n')
    .filter((part) => part !== '')
    .map((part) => `<p>${rich(part)}</p>`)
    .join('');
}

/** Code spans of Markdown; nothing else of it is used. */
function rich(words: string): string {
  return text(words).replace(/`([^`]+)`/g, '<code>$1</code>');
}

function text(words: string): string {
  return words.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');
}

/**
 * The shell of `/docs` and what is ours on it: a heading, how it looks, and how the reference is started. The reference
 * itself is Swagger UI, which shows `/openapi.json` in the browser and asks this service alone. No script or style
 * stands in the page, so the strictest policy holds. Sent by `docs-routes.ts`.
 */

/** Nothing from elsewhere, and nothing sent elsewhere: people type keys into this page. */
export const DOCS_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  // Recordings that were asked for.
  "media-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export const DOCS_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Parley API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/reference.css">
<link rel="stylesheet" href="/docs/page.css">
<script defer src="/docs/reference.js"></script>
<script defer src="/docs/start.js"></script>
</head>
<body>
<header>
<h1>Parley API</h1>
<p>For programs: <a href="/openapi.json"><code>/openapi.json</code></a> (OpenAPI 3.1).</p>
</header>
<main id="reference">
<noscript>This page needs JavaScript. All that it shows stands in <a href="/openapi.json">/openapi.json</a>.</noscript>
</main>
</body>
</html>
`;

/** Light or dark as the reader's system has it, which `start.js` tells Swagger UI's own style too. */
export const DOCS_STYLE = `body{margin:0 auto;max-width:80rem;padding:0 1rem;font:16px/1.5 system-ui,sans-serif;color:#1f2937}
html.dark-mode body{color:#e4e6e6}
html.dark-mode a{color:#51a8ff}
header{padding:1.5rem 20px 0}
h1{margin:0}
.swagger-ui .info{margin:1.5rem 0}
.swagger-ui .info hgroup{display:none}
`;

/**
 * Runs in the browser. An operation is tried at the address under which the page was opened, whatever the document
 * names: that is the same service, and the policy lets a key go nowhere else. Keys are forgotten with the page.
 */
export const DOCS_START = `'use strict';
const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', follow);
follow();

const SCHEMAS = '#/components/schemas/';
// Without it Swagger UI reads the whole document into objects of its own each time an operation is opened: the page
// stands still for seconds. A schema within itself stays a reference.
function resolve(value, spec, within) {
  if (Array.isArray(value)) return value.map((item) => resolve(item, spec, within));
  if (value === null || typeof value !== 'object') return value;
  const { $ref: ref, ...own } = value;
  if (typeof ref !== 'string' || !ref.startsWith('#/')) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, resolve(item, spec, within)]));
  }
  const meant = ref.slice(2).split('/').reduce((at, key) => at?.[key.replaceAll('~1', '/').replaceAll('~0', '~')], spec);
  if (meant === undefined || within.includes(ref)) return value;
  const name = ref.startsWith(SCHEMAS) ? { title: ref.slice(SCHEMAS.length) } : {};
  return resolve({ ...name, ...meant, ...own }, spec, [...within, ref]);
}
const resolveSubtree = async (spec, path) => ({
  spec: resolve(path.reduce((at, key) => at?.[key], spec), spec, []),
  errors: [],
});

async function start() {
  if (typeof SwaggerUIBundle === 'undefined') throw new Error('The reference was not built: run npm run build.');
  const answer = await fetch('/openapi.json');
  if (!answer.ok) throw new Error('/openapi.json answered ' + answer.status + '. Load the page again in a moment.');
  const spec = { ...(await answer.json()), servers: [{ url: location.origin }] };
  SwaggerUIBundle({
    spec,
    dom_id: '#reference',
    deepLinking: true,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    filter: true,
    displayOperationId: true,
    persistAuthorization: false,
    validatorUrl: null,
    plugins: [() => ({ fn: { resolveSubtree } })],
  });
}
start().catch((error) => {
  document.getElementById('reference').textContent = error.message;
});
`;

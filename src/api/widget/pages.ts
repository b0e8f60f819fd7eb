/**
 * The shells of `/talk`, `/embed/doctor` and `/embed/preview`: markup without a word of script or style in it, so that
 * the strictest policy holds. What moves on them is `widget/pages`. The talk page uses `embed.js` as any website would.
 */
import type { WidgetFiles } from './widget-files.ts';

/**
 * The microphone is ours and nothing else is needed. `framedBy`: the origins, in the stored form of a widget key's
 * list, whose pages may hold this one in a frame, beside our own.
 */
export function pageHeaders(publicUrl: string, framedBy: readonly string[] = []): Record<string, string> {
  // A policy knows no IPv6 address (CSP 3, host-source).
  const ancestors = ["'self'", ...framedBy.filter((origin) => !origin.includes('['))].join(' ');
  const socket = publicUrl.replace(/^http/, 'ws');
  return {
    'content-security-policy': `default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self' ${socket}; img-src data:; media-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors ${ancestors}`,
    'permissions-policy': 'microphone=(self), autoplay=(self), camera=(), geolocation=()',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-cache',
  };
}

function shell(files: WidgetFiles, title: string, scripts: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' rx='9' fill='%230f766e'/%3E%3Cpath d='M9 13v6M16 8v16M23 13v6' stroke='%23fff' stroke-width='3' stroke-linecap='round'/%3E%3C/svg%3E">
<link rel="stylesheet" href="/embed/assets/${files.nameOf('page')}">
${scripts}
</head>
<body>
${body}
<noscript><p class="noscript">This page needs JavaScript: your voice goes to the agent through it.</p></noscript>
</body>
</html>
`;
}

export function talkPage(files: WidgetFiles, { publicKey, agentId }: { publicKey: string; agentId: string }): string {
  const scripts = `<script type="module" src="/embed/assets/${files.nameOf('talk')}"></script>
<script async src="/embed.js" data-public-key="${publicKey}" data-agent-id="${agentId}" data-ui="custom"></script>`;
  return shell(files, 'Talk to the agent', scripts, '<main id="talk" class="talk" aria-busy="true"></main>');
}

export function doctorPage(files: WidgetFiles): string {
  const scripts = `<script type="module" src="/embed/assets/${files.nameOf('doctor')}"></script>`;
  return shell(
    files,
    'Voice check',
    scripts,
    `<main id="doctor" class="doctor" data-worklets="/embed/assets/${files.nameOf('audio')}" aria-busy="true"></main>`,
  );
}

export function previewPage(files: WidgetFiles): string {
  const scripts = `<script type="module" src="/embed/assets/${files.nameOf('preview')}"></script>`;
  return shell(files, 'Preview of the widget', scripts, '<main id="preview"></main>');
}

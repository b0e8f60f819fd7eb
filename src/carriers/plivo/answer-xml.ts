/**
 * The XML documents that Plivo fetches from our answer URL. Called by the Plivo carrier; pure text, every value
 * escaped. Nothing secret may be put anywhere but in the stream's URL, which holds the single-use token.
 */
import type { LegFormat } from '../../../media/contract/audio-format.ts';
import type { StreamInstruction } from '../carrier.ts';

export const XML_CONTENT_TYPE = 'application/xml';
const MAX_STREAM_URL_CHARS = 2048;

/**
 * Opens the bidirectional stream. `keepCallAlive` makes the stream run alone: what stands after it is for a call whose
 * stream could not be opened, or is over though nobody hung up, because what carried it died. It asks us again. The
 * content type is always said: Plivo's pages disagree about its default.
 */
export function streamDocument({ mediaUrl, statusUrl, nextUrl, pauseSeconds, format }: StreamInstruction): string {
  if (mediaUrl.length > MAX_STREAM_URL_CHARS) {
    throw new Error(
      `The media URL has ${mediaUrl.length} characters; Plivo takes ${MAX_STREAM_URL_CHARS}. Shorten PUBLIC_URL.`,
    );
  }
  return response(
    `<Stream bidirectional="true" keepCallAlive="true" contentType="${contentTypeOf(format)}"` +
      ` statusCallbackUrl="${escapeXml(statusUrl)}" statusCallbackMethod="POST">${escapeXml(mediaUrl)}</Stream>` +
      (pauseSeconds > 0 ? `<Wait length="${Math.ceil(pauseSeconds)}"/>` : '') +
      `<Redirect method="POST">${escapeXml(withRetries(nextUrl))}</Redirect>`,
  );
}

/**
 * Asks Plivo's HTTP client to repeat a request that could not connect or was not answered (connection 2 s, answer 8 s,
 * three times): a media process that dies takes the requests with it that it was passing on. A fragment is neither sent
 * nor signed.
 */
export function withRetries(url: string): string {
  return `${url}#ct=2000&rt=8000&rc=3&rp=ct,rt`;
}

export function hangupDocument(): string {
  return response('<Hangup/>');
}

/** As `<Stream contentType>` wants it, with the rate: `audio/x-mulaw;rate=8000`. */
function contentTypeOf(format: LegFormat): string {
  if (format.codec === 'mulaw' && format.rateHz === 8000) return 'audio/x-mulaw;rate=8000';
  if (format.codec === 'pcm_s16le' && (format.rateHz === 8000 || format.rateHz === 16000)) {
    return `audio/x-l16;rate=${format.rateHz}`;
  }
  throw new Error(
    `Plivo streams carry mu-law at 8000 Hz or L16 at 8000 or 16000 Hz, not ${format.codec} at ${format.rateHz} Hz.`,
  );
}

function response(inner: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<Response>${inner}</Response>`;
}

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };

/** What XML 1.0 §2.2 forbids even when escaped: control characters, two non-characters, lone surrogates. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to remove
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu;

export function escapeXml(text: string): string {
  return text.replace(FORBIDDEN, '').replace(/[&<>"']/g, (character) => ESCAPES[character]!);
}

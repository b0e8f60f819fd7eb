/** A `multipart/form-data` body (RFC 7578) for requests that are injected. */
export function formOf(fields: Record<string, string | Buffer>): { payload: Buffer; contentType: string } {
  const boundary = 'parley-test-boundary';
  const parts = Object.entries(fields).flatMap(([name, value]) => {
    const file = Buffer.isBuffer(value) ? `; filename="sound"\r\nContent-Type: application/octet-stream` : '';
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n`;
    return [Buffer.from(head), Buffer.from(value), Buffer.from('\r\n')];
  });
  return {
    payload: Buffer.concat([...parts, Buffer.from(`--${boundary}--\r\n`)]),
    contentType: `multipart/form-data; boundary=${boundary}`,
  };
}

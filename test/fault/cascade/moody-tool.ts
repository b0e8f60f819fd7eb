/** A client's tool that answers, or, when it was told so, takes the next request and never answers it. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface MoodyTool {
  url: string;
  /** The next request has no answer. */
  fallsSilent(): void;
  close(): void;
}

export async function startMoodyTool(): Promise<MoodyTool> {
  let silences = 0;
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      if (silences > 0) silences--;
      else response.writeHead(200, { 'content-type': 'application/json' }).end('{"free":true}');
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/tools`,
    fallsSilent: () => void silences++,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

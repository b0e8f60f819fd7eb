/** Stands before a running service: its metrics as they are at `/healthy`, and at fault at `/<alert>`. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { FAULTS } from './faults.ts';
import { withFault } from './metrics-text.ts';

export interface Exporter {
  /** `127.0.0.1:…` */
  target: string;
  close(): void;
}

/** `metricsUrl`: of the service. Faults begin with the start, on the text that the service has then. */
export async function startExporter(metricsUrl: string): Promise<Exporter> {
  const text = async (): Promise<string> => (await fetch(metricsUrl)).text();
  const before = await text();
  const beganAtMs = performance.now();
  const server = createServer(async ({ url = '' }, response) => {
    const name = url.slice(1);
    const fault = FAULTS[name];
    if (fault === 'is_down') return void response.writeHead(503).end();
    try {
      const seconds = (performance.now() - beganAtMs) / 1000;
      response.end(fault === undefined ? await text() : withFault(before, fault, seconds));
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    target: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => void server.close(),
  };
}

/**
 * nginx from Debian's package, with TLS and a certificate made for the run, before a service on this machine. Each port
 * has an address of its own from which it connects, so that a test decides which of them is trusted.
 */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { eventually } from './eventually.ts';

const NGINX = ['/usr/sbin/nginx', '/usr/local/sbin/nginx'].find((path) => existsSync(path));
const OPENSSL = '/usr/bin/openssl';
export const hasNginx = NGINX !== undefined && existsSync(OPENSSL);

export interface ProxyPort {
  port: number;
  /** On loopback; whom the service sees. */
  connectsFrom: string;
  upstreamPort: number;
  isPlain?: boolean;
}

export interface Nginx {
  /** Of the certificate, which names `localhost`. */
  ca: Buffer;
  stop(): Promise<void>;
}

export async function startNginx(folder: string, ports: readonly ProxyPort[]): Promise<Nginx> {
  mkdirSync(folder, { recursive: true });
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  execFileSync(OPENSSL, ['req', '-x509', ...kind, '-keyout', key, '-out', cert, ...subject], { stdio: 'ignore' });
  const file = join(folder, 'nginx.conf');
  writeFileSync(file, configOf(folder, ports, { key, cert }));
  const child = spawn(NGINX ?? '', ['-p', folder, '-c', file, '-e', 'stderr'], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (text: Buffer) => {
    said += text.toString();
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const answers = (port: number): Promise<boolean> =>
    new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.destroy();
        resolve(true);
      });
      socket.on('error', () => resolve(false));
    });
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await exited;
  };
  let hasEnded = false;
  void exited.then(() => {
    hasEnded = true;
  });
  try {
    for (const { port } of ports) {
      const isThere = (): Promise<boolean> => {
        if (hasEnded) throw new Error(`nginx has ended: ${said}`);
        return answers(port);
      };
      await eventually('nginx', isThere, { story: () => said });
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { ca: readFileSync(cert), stop };
}

/** As docs/operations.md tells operators to write it, but for the addresses. */
function configOf(folder: string, ports: readonly ProxyPort[], { key, cert }: { key: string; cert: string }): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${join(folder, name)};`,
  );
  const servers = ports.map(
    ({ port, connectsFrom, upstreamPort, isPlain }) => `
  server {
    listen 127.0.0.1:${port}${isPlain === true ? '' : ' ssl'};
    server_name localhost;
    location / {
      proxy_pass http://127.0.0.1:${upstreamPort};
      proxy_bind ${connectsFrom};
      proxy_http_version 1.1;
      proxy_set_header Host $host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $connection_upgrade;
      proxy_buffering off;
    }
  }`,
  );
  return `daemon off;
master_process off;
pid ${join(folder, 'nginx.pid')};
events { worker_connections 256; }
http {
  access_log off;
  ${temporary.join('\n  ')}
  ssl_certificate ${cert};
  ssl_certificate_key ${key};
  map $http_upgrade $connection_upgrade { default upgrade; '' ''; }${servers.join('')}
}
`;
}

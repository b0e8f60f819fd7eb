/**
 * Where TLS can end before a gateway that is measured: in nginx or HAProxy from Debian's packages, as
 * docs/operations.md has them, on one processor, in front of it on loopback. The certificate is made for the run.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { endChild } from '../harness/end-child.ts';
import { freePort } from '../harness/free-port.ts';

export interface Certificate {
  folder: string;
  keyFile: string;
  certFile: string;
  remove(): void;
}

export interface TlsProxy {
  port: number;
  pid: number;
  stop(): Promise<void>;
}

export type ProxyKind = 'nginx' | 'haproxy';

const FILES: Record<ProxyKind, string> = { nginx: '/usr/sbin/nginx', haproxy: '/usr/sbin/haproxy' };
const START_LIMIT_MS = 5_000;
const STOP_LIMIT_MS = 2_000;
/** Two a call, and some. */
const CONNECTIONS = 8_192;

/** Of localhost, signed by itself, for two days; needs `openssl`. */
export function makeCertificate(): Certificate {
  const folder = mkdtempSync(join(tmpdir(), 'parley-bench-tls-'));
  const [keyFile, certFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  execFileSync('openssl', ['req', '-x509', ...kind, '-keyout', keyFile, '-out', certFile, ...subject], {
    stdio: 'ignore',
  });
  return { folder, keyFile, certFile, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Throws, and says how to install it, where it is not there. */
export async function startTlsProxy(kind: ProxyKind, upstreamPort: number, cert: Certificate): Promise<TlsProxy> {
  const file = FILES[kind];
  if (!existsSync(file)) throw new Error(`${file} is not installed: apt-get install ${kind}`);
  const port = await freePort();
  const config = join(cert.folder, `${kind}.conf`);
  let child: ChildProcess;
  if (kind === 'nginx') {
    writeFileSync(config, nginxConfig(port, upstreamPort, cert));
    child = spawn(file, ['-p', cert.folder, '-c', config, '-e', 'stderr'], { stdio: ['ignore', 'ignore', 'inherit'] });
  } else {
    const both = join(cert.folder, 'both.pem');
    writeFileSync(both, readFileSync(cert.certFile, 'utf8') + readFileSync(cert.keyFile, 'utf8'));
    writeFileSync(config, haproxyConfig(port, upstreamPort, both));
    child = spawn(file, ['-db', '-q', '-f', config], { stdio: ['ignore', 'ignore', 'inherit'] });
  }
  const untilMs = performance.now() + START_LIMIT_MS;
  while (!(await answers(port))) {
    if (child.exitCode !== null || performance.now() > untilMs) throw new Error(`${kind} does not start`);
    await sleep(50);
  }
  return { port, pid: child.pid ?? 0, stop: () => endChild(child, STOP_LIMIT_MS) };
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}

function nginxConfig(port: number, upstreamPort: number, { folder, keyFile, certFile }: Certificate): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${join(folder, name)};`,
  );
  return `daemon off;
master_process off;
pid ${join(folder, 'nginx.pid')};
worker_rlimit_nofile ${2 * CONNECTIONS};
events { worker_connections ${CONNECTIONS}; }
http {
  access_log off;
  ${temporary.join('\n  ')}
  server {
    listen 127.0.0.1:${port} ssl;
    ssl_certificate ${certFile};
    ssl_certificate_key ${keyFile};
    ssl_protocols TLSv1.3;
    location / {
      proxy_pass http://127.0.0.1:${upstreamPort};
      proxy_http_version 1.1;
      proxy_set_header Host $host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection upgrade;
      proxy_buffering off;
    }
  }
}
`;
}

function haproxyConfig(port: number, upstreamPort: number, pemFile: string): string {
  return `global
  nbthread 1
  maxconn ${CONNECTIONS}
frontend voice
  mode http
  bind 127.0.0.1:${port} ssl crt ${pemFile} ssl-min-ver TLSv1.3
  timeout client 60s
  default_backend parley
backend parley
  mode http
  option forwardfor
  timeout connect 5s
  timeout server 60s
  timeout tunnel 1h
  server parley 127.0.0.1:${upstreamPort}
`;
}

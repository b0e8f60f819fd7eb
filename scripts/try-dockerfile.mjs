/**
 * Runs the Dockerfile's steps without Docker: `sudo node scripts/try-dockerfile.mjs`. Linux, as root, on a Debian of
 * the image's own kind with the image's own Node, which stands in for the base image. Each stage is an overlay over
 * this machine's root, kept in memory; the steps run in it by `chroot`, in the Dockerfile's own words. Then the image's
 * user starts the image's command under a root that cannot be written, as process 1 of a namespace of its own; its
 * health check is asked, one call of the demo is held, and SIGTERM must end it. Not tried: the base image itself,
 * Docker's network, its seccomp profile, and `docker build`'s cache and context.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const IN_MEMORY = '6g';
const HEALTHY_WITHIN_SECONDS = 60;

/** Instructions in order, with continued lines joined and comments gone. */
function instructionsOf(text) {
  const lines = text.split('\n').filter((line) => !/^\s*#/.test(line));
  return lines
    .join('\n')
    .replaceAll(/\\\n/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => /^(\w+)\s+(.*)$/.exec(line.trim()).slice(1));
}

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** One bash script for all stages; what it learns of the last one is put into `image`. */
function scriptOf(instructions) {
  const image = { env: {}, user: 'root', entrypoint: [], cmd: [], healthcheck: [], volumes: [], workdir: '/' };
  const script = ['set -euo pipefail', 'mount --make-rprivate /', `mount -t tmpfs -o size=${IN_MEMORY} tmpfs /mnt`];
  const stages = [];
  let stage = '';
  const say = (what) => script.push(`echo "── ${what.replaceAll(/["$`\\]/g, '\\$&')}"`);
  for (const [name, rest] of instructions) {
    say(`${name} ${rest.length > 100 ? `${rest.slice(0, 100)} …` : rest}`);
    if (name === 'FROM') {
      stage = / AS (\w+)$/i.exec(rest)?.[1] ?? `stage${stages.length}`;
      stages.push(stage);
      image.workdir = '/';
      const at = `/mnt/${stage}`;
      script.push(
        `mkdir -p ${at}.upper ${at}.work ${at}`,
        `mount -t overlay overlay -o lowerdir=/,upperdir=${at}.upper,workdir=${at}.work ${at}`,
        `for one in proc dev sys; do mount --rbind /$one ${at}/$one; done`,
      );
    } else if (name === 'WORKDIR') {
      image.workdir = rest;
      script.push(`mkdir -p /mnt/${stage}${rest}`);
    } else if (name === 'COPY') {
      const from = /^--from=(\w+) /.exec(rest)?.[1];
      const words = rest.replace(/^--from=\w+ /, '').split(/\s+/);
      const to = words.pop();
      const target = `/mnt/${stage}${to.startsWith('/') ? to : `${image.workdir}/${to}`}`;
      for (const one of words) {
        const source = from === undefined ? `${root}/${one}` : `/mnt/${from}${one}`;
        // As Docker does it: a folder's contents go into the target, a file goes below a target that ends in a slash.
        script.push(
          `if [ -d ${quoted(source)} ]; then mkdir -p ${quoted(target)}; cp -a ${quoted(source)}/. ${quoted(target)};`,
          `else mkdir -p ${quoted(target.endsWith('/') ? target : target.replace(/\/[^/]*$/, ''))}; cp -a ${quoted(source)} ${quoted(target)}; fi`,
        );
      }
    } else if (name === 'RUN') {
      script.push(`chroot /mnt/${stage} sh -c ${quoted(`cd ${image.workdir} && ${rest}`)}`);
    } else if (name === 'ENV') {
      for (const [, key, value] of rest.matchAll(/(\w+)=(\S+)/g)) image.env[key] = value;
    } else if (name === 'USER') image.user = rest;
    else if (name === 'VOLUME') image.volumes.push(rest);
    else if (name === 'ENTRYPOINT') image.entrypoint = JSON.parse(rest);
    else if (name === 'CMD') image.cmd = JSON.parse(rest);
    else if (name === 'HEALTHCHECK') image.healthcheck = JSON.parse(rest.slice(rest.indexOf('CMD') + 3));
    else if (name !== 'EXPOSE' && name !== 'STOPSIGNAL') throw new Error(`this script does not know ${name}`);
  }
  return [...script, ...trialOf(image, `/mnt/${stages.at(-1)}`)].join('\n');
}

function trialOf(image, at) {
  const env = Object.entries({
    ...image.env,
    PATH: process.env.PATH,
    PUBLIC_URL: 'http://127.0.0.1:18080',
    PORT: '18080',
  });
  const words = (list) => list.map(quoted).join(' ');
  const asUser = `setpriv --reuid=${image.user} --regid=${image.user} --clear-groups --inh-caps=-all --bounding-set=-all --no-new-privs`;
  const inside = (list) => `chroot ${at} env -i ${words(env.map((pair) => pair.join('=')))} ${asUser} ${words(list)}`;
  return [
    'echo "── the image\'s command, its root read-only"',
    `mount -t tmpfs tmpfs ${at}/tmp && chmod 1777 ${at}/tmp`,
    ...image.volumes.flatMap((volume, i) => [
      `install -d -o "$(stat -c %u ${at}${volume})" -g "$(stat -c %g ${at}${volume})" /mnt/volume${i}`,
      `mount --bind /mnt/volume${i} ${at}${volume}`,
    ]),
    `mount -o remount,ro ${at}`,
    `cd ${at}${image.workdir}`,
    `if ${inside(['touch', `${image.workdir}/written`])} 2>/dev/null; then echo "the root can be written"; exit 1; fi`,
    `unshare --pid --fork --mount-proc=${at}/proc chroot ${at} env -i ${words(env.map((pair) => pair.join('=')))} sh -c ${quoted(
      `cd ${image.workdir} && exec ${asUser} ${words([...image.entrypoint, ...image.cmd])}`,
    )} > /mnt/output 2>&1 &`,
    'PARENT=$!',
    'HEALTHY=',
    `for try in $(seq ${HEALTHY_WITHIN_SECONDS}); do if ${inside(image.healthcheck)}; then HEALTHY=$try; break; fi; sleep 1; done`,
    'if [ -z "$HEALTHY" ]; then tail -20 /mnt/output; echo "it did not become healthy"; exit 1; fi',
    'echo "healthy after $HEALTHY tries; process 1 and its children:"',
    'FIRST=$(pgrep -P $PARENT)',
    'ps -o user:12,pid,args --ppid $FIRST -p $FIRST | cut -c1-100',
    'echo "── SIGTERM to process 1"',
    'kill -TERM $FIRST',
    'CODE=0; wait $PARENT || CODE=$?',
    'echo "it ended with $CODE"; [ "$CODE" = 0 ] || { tail -20 /mnt/output; exit 1; }',
    'echo "── one call of the demo inside"',
    `chroot ${at} env -i ${words(env.map((pair) => pair.join('=')))} sh -c ${quoted(
      `cd ${image.workdir} && exec ${asUser} node dist/bench/demo/main.js --once --data-dir /data/demo`,
    )} | tail -12`,
    `du -sh --one-file-system ${at}.upper | cut -f1 | sed 's/^/size of the last stage above its base: /'`,
  ];
}

if (process.platform !== 'linux' || process.getuid() !== 0) {
  console.error('scripts/try-dockerfile.mjs needs Linux and root: it mounts and changes root');
  process.exit(2);
}
const script = scriptOf(instructionsOf(readFileSync(`${root}/Dockerfile`, 'utf8')));
const { status } = spawnSync('unshare', ['--mount', 'bash', '-c', script], { stdio: 'inherit' });
console.log(status === 0 ? 'the Dockerfile was run to its end' : 'FAILED');
process.exit(status === 0 ? 0 : 1);

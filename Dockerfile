# Debian and not Alpine: uWebSockets.js has no build for musl. Node 20's binary needs glibc 2.27 (bookworm has 2.36); when moving
# to Node 22 or 24 take a trixie image, whose glibc 2.41 satisfies their 2.38.
FROM node:20-bookworm-slim AS build
WORKDIR /parley
COPY package.json package-lock.json ./
COPY scripts/bootstrap.mjs scripts/foreign-binaries.mjs scripts/
# What runs, and what the build below takes.
RUN node scripts/bootstrap.mjs
COPY tsconfig.json tsconfig.build.json ./
COPY bin bin
COPY src src
COPY media media
COPY bench bench
COPY clients clients
COPY widget widget
COPY console console
COPY scripts scripts
RUN npm run build \
 && npm prune --omit=dev --ignore-scripts --no-audit --no-fund \
 # One binary is loaded; those of other Node versions are 30 MB.
 && find node_modules/uWebSockets.js -name '*.node' ! -name "uws_linux_$(node -p process.arch)_$(node -p process.versions.modules).node" -delete

FROM node:20-bookworm-slim
# tini: the supervisor forks, so somebody must reap; it passes SIGTERM on, and the supervisor drains.
RUN apt-get update && apt-get install -y --no-install-recommends tini && rm -rf /var/lib/apt/lists/* \
 && useradd --system --uid 10001 --home-dir /parley parley \
 && mkdir -p /data && chown parley:parley /data
WORKDIR /parley
COPY --from=build /parley/package.json ./
COPY LICENSE NOTICE ./
COPY --from=build /parley/node_modules node_modules
COPY --from=build /parley/dist dist
COPY --from=build /parley/bin bin
COPY --from=build /parley/src/store/migrations src/store/migrations
# For `node dist/bench/demo/main.js --once --data-dir /data/demo`: one call inside the image, without a carrier.
COPY --from=build /parley/bench/demo/agent.json bench/demo/
COPY --from=build /parley/bench/demo/page bench/demo/page
COPY --from=build /parley/bench/emulators/personas bench/emulators/personas
# The metrics are for this container alone. For a Prometheus beside it: PARLEY_METRICS_HOST=0.0.0.0 and PARLEY_METRICS_TOKEN.
ENV NODE_ENV=production PARLEY_DATA_DIR=/data PORT=8080
USER parley
VOLUME /data
EXPOSE 8080 9464
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/livez`).then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["tini", "--"]
CMD ["node", "dist/src/supervisor/main.js"]

/** Who may import whom. `scripts/check.mjs` also asserts a minimum module count, so that a cruise of nothing cannot pass. */
const rule = (name, from, to) => ({ name, severity: 'error', from, to });
const only = (name, path, allowed) => rule(name, { path }, { path: '^(src|media|widget|console|bench|test)/', pathNot: allowed });

/** A carrier is one folder a side; what all emulated carriers share lies in `callees`, and emulated providers are none. */
const CARRIER_SIDES = '(src/carriers|media/io/carriers|bench/emulators|bench/load/targets/stream)';
const CARRIER_FOLDER = `^${CARRIER_SIDES}/(?!providers/)([^/]+)/`;
const CALLEES = '^bench/emulators/callees/';
/** Names in `media/contract/carriers.ts`, and the maps from them; `scripts/check-carriers.mjs` finds lists that import nothing. */
const CARRIER_MAPS = '^(src/carriers/carriers|media/io/carriers/codecs|bench/emulators/emulators|bench/load/targets/stream/protocols)\\.ts$';

/** The floors of `src`, the lowest first; `docs/architecture.md` says what each is for. A folder knows its own floor and those below. */
const FLOORS = {
  ground: ['errors', 'store', 'sealing', 'audit', 'carriers', 'config'],
  records: ['calls', 'limits', 'nodes', 'workspaces'],
  services: ['agents', 'analysis', 'call-log', 'clips', 'connections', 'dialling', 'exports', 'key-rotation', 'leads', 'overview', 'recordings', 'retention', 'suppressions', 'tools', 'usage', 'users', 'webhooks'],
  'calls-in-progress': ['embed', 'lifecycle', 'media-link', 'metrics', 'monitor', 'placement', 'tracing'],
  api: ['api'],
  programs: ['cli', 'control', 'doctor', 'supervisor'],
};
const foldersOf = (floors) => `^src/(${floors.flat().join('|')})/`;
const EVERY_FLOOR = Object.values(FLOORS);
const NO_FLOOR = { path: '^src/', pathNot: `${foldersOf(EVERY_FLOOR)}|^src/main\\.ts$` };
/** One rule a floor: it does not know what is above it. Nothing is above the last. */
const FLOOR_RULES = Object.keys(FLOORS)
  .slice(0, -1)
  .map((name, index) => rule(`floor-${name}-knows-none-above`, { path: foldersOf(FLOORS[name]) }, { path: `^src/(main\\.ts|(${EVERY_FLOOR.slice(index + 1).flat().join('|')})/)` }));

module.exports = {
  forbidden: [
    rule('no-cycles', {}, { circular: true }),
    { ...rule('no-folder-cycles-in-src', { path: '^src/[^/]+$' }, { path: '^src/[^/]+$', circular: true }), scope: 'folder' },
    ...FLOOR_RULES,
    rule('every-folder-of-src-has-a-floor', {}, NO_FLOOR),
    rule('every-folder-of-src-has-a-floor', NO_FLOOR, {}),
    rule('control-alone-puts-the-api-up', { path: '^src/', pathNot: '^src/(api|control)/' }, { path: '^src/api/' }),
    only('contract-is-a-leaf', '^media/contract/', '^media/contract/'),
    rule('contract-is-pure', { path: '^media/contract/' }, { dependencyTypes: ['core', 'npm', 'npm-dev', 'npm-optional'] }),
    only('rings-know-contract-only', '^media/rings/', '^media/(contract|rings)/'),
    only('audio-below-io-and-call', '^media/audio/', '^media/(contract|audio)/'),
    only('io-does-not-know-the-call', '^media/io/', '^media/(contract|rings|audio|io)/'),
    only('call-knows-no-agent-engine-or-io', '^media/call/', '^media/(contract|rings|audio|call)/'),
    only('agents-know-their-port-only', '^media/agents/', '^media/(contract|agents)/'),
    rule('agents-and-engines-meet-in-threads', { path: '^(src|media|widget)/', pathNot: '^media/(agents|engines|threads)/|^media/(main|engine-speed)\\.ts$' }, { path: '^media/(agents|engines)/' }),
    only('engines-implement-ports', '^media/engines/', '^media/(contract|audio|net|engines)/'),
    only('the-way-out-is-a-leaf', '^media/net/', '^media/(contract|net)/'),
    only('encrypted-files-are-a-leaf', '^media/files/', '^media/(contract|files)/'),
    only('recorder-stands-alone', '^media/recorder/', '^media/(contract|rings|audio|files|recorder)/'),
    only('clips-stand-alone', '^media/clips/', '^media/(contract|audio|files|clips)/'),
    // Both sides read the same files, and leave by the same guarded door: what a recording looks like on a disk and where
    // a request may go are contracts too.
    only('control-reaches-media-by-messages', '^src/', '^(src/|media/(contract|files|net)/)'),
    only('widget-knows-contract-only', '^widget/', '^(widget/|media/contract/)'),
    // The console is a client of the API like any other: it knows the generated client and nothing of the service.
    only('console-knows-the-client-only', '^console/', '^console/'),
    only('console-ui-knows-texts-only', '^console/ui/', '^console/(ui|texts)/'),
    only('console-api-stands-below', '^console/api/', '^console/api/'),
    only('console-texts-are-a-leaf', '^console/texts/', '^console/texts/'),
    rule('console-pages-do-not-know-each-other', { path: '^console/pages/([^/]+)/' }, { path: '^console/(app|pages)/', pathNot: '^console/pages/$1/' }),
    // What is built of the tests runs as a process of its own, without a test runner.
    rule('fault-runs-need-no-test-runner', { path: '^test/(fault|harness)/', pathNot: '\\.test\\.ts$' }, { path: '^test/|node_modules/vitest', pathNot: '^test/(fault|harness)/' }),
    rule('bench-knows-no-test', { path: '^bench/' }, { path: '^test/' }),
    rule('nothing-imports-bench-or-test', { path: '^(src|media|widget|console)/' }, { path: '^(bench|test)/' }),
    rule('nothing-imports-the-console', { path: '^(src|media|widget|bench|test)/' }, { path: '^console/' }),
    rule('no-dev-dependencies-at-run-time', { path: '^(src|media|widget|bench)/' }, { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] }),
    rule('one-file-imports-uws', { path: '^(src|media|bench|test)/', pathNot: '^media/io/socket-server/uws-server\\.ts$' }, { path: 'node_modules/(uWebSockets\\.js|uwebsockets)/' }),
    rule('one-file-makes-opus', { path: '^(src|media|bench)/', pathNot: '^media/audio/opus-codec\\.ts$' }, { path: 'node_modules/(opusscript|@discordjs/opus)/' }),
    rule('one-file-makes-pools', { path: '^(src|media|bench)/', pathNot: '^src/store/(database|listener|migrate|server-sessions)\\.ts$|^bench/database/floor-process\\.ts$' }, { path: 'node_modules/pg/' }),
    rule('one-map-a-side-knows-carriers', { path: '^(src|media|bench|widget)/', pathNot: `${CARRIER_MAPS}|${CARRIER_FOLDER}` }, { path: CARRIER_FOLDER, pathNot: CALLEES }),
    rule('carriers-do-not-know-each-other', { path: CARRIER_FOLDER }, { path: CARRIER_FOLDER, pathNot: `^${CARRIER_SIDES}/$2/|${CALLEES}` }),
    rule('emulated-providers-do-not-know-each-other', { path: '^bench/emulators/providers/([^/]+)/' }, { path: '^bench/emulators/providers/[^/]+/', pathNot: '^bench/emulators/providers/($1|hearing|mind|voice)/' }),
    // What drives a peer of the race runs where that peer's packages are installed, outside of this project.
    rule('unresolvable', { pathNot: '^bench/race/subjects/[^/]+\\.mjs$' }, { couldNotResolve: true }),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { extensions: ['.ts', '.tsx', '.mjs', '.js', '.json'], exportsFields: ['exports'], conditionNames: ['import', 'require', 'node', 'default', 'types'] },
  },
};

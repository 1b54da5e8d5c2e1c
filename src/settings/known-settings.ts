/** Every setting of a server, in the order of `--help`: by group, the common ones first. */

import { availableParallelism } from 'node:os'

import { assistantDefaults } from './assistant-defaults.ts'
import { regionNames } from './region.ts'
import { anyText, domain, handles, hostPatterns, hosts, localOrigins, onOffOrAddress, oneOf,
  origins, path, ranges, runShare, share, someOf, targets, tenantName, texts, urlsOf, userRange,
  variables, webAddress, wholeNumber, yesOrNo } from './setting-kind.ts'
import { settingsOf } from './setting.ts'
import type { Setting } from './setting.ts'

/** At least two: a graph that spins must leave one to the others. At most eight, for memory. */
const defaultWorkers = Math.min(Math.max(availableParallelism(), 2), 8)

const onOrOff = oneOf(['on', 'off'])
const port = wholeNumber(0, 65_535)
const quota = wholeNumber(0, 1_000_000_000)

const [serve, access, store, cluster, limits, observability] = [settingsOf('serve'),
  settingsOf('access'), settingsOf('store'), settingsOf('cluster'), settingsOf('limits'),
  settingsOf('observability')]

/** All settings of a server, by name. */
export const knownSettings = {
  config: serve('--config <path>', 'HEDDLE_CONFIG', { kind: path, fallback: undefined,
    usual: 'the starter', message: 'The `langgraph.json` to serve, or its folder.' }),
  port: serve('--port <number>', 'PORT', { kind: port, fallback: 2024,
    usual: '2024 or the next free one', message: 'The port to listen on; 0 picks a free one.' }),
  platformPort: serve('--platform-port <number>', 'HEDDLE_PLATFORM_PORT', { kind: port,
    fallback: undefined, usual: 'none: its API is below `/api`',
    message: 'A second port for the API of traces, without `/api`; 0 picks a free one.' }),
  studio: serve('--studio <how>', 'HEDDLE_STUDIO', { kind: onOffOrAddress, fallback: 'on',
    message:
      'Whether the web page is at `/studio/`; a URL if its API is that of another server.' }),
  hubHandle: serve('--hub-handle <handles>', 'HEDDLE_HUB_HANDLE', { kind: handles,
    fallback: new Map(), usual: '`local` without `--auth keys`, else none',
    message: 'The names under which tenants show their public prompts to everybody: ' +
      '`acme=tenant`, or `acme` without `--auth keys`.' }),
  host: serve('--host <address>', 'HEDDLE_HOST', { kind: anyText, fallback: '127.0.0.1',
    message: 'The address to listen on.' }),
  data: serve('--data <folder>', 'HEDDLE_DATA_DIR', { kind: path, fallback: undefined,
    usual: '`.heddle` in the project', message: 'The folder where everything is stored.' }),
  workers: serve('--workers <number>', 'HEDDLE_WORKERS', { kind: wholeNumber(1, 64),
    fallback: defaultWorkers, usual: 'one per core, but 2 to 8',
    message: 'The number of worker threads that run graphs.' }),
  reload: serve('--no-reload', 'HEDDLE_RELOAD', { kind: yesOrNo, fallback: true,
    usual: 'it is reloaded', message: 'Do not reload the project when one of its files changes.' }),
  graphEnv: serve('--graph-env <names>', 'HEDDLE_GRAPH_ENV', { kind: variables, fallback: ['*'],
    usual: "all but the server's own",
    message: 'The environment variables that graphs see: `OPENAI_API_KEY,MY_*`.' }),
  graphConfig: serve('--graph-config <json>', 'LANGGRAPH_CONFIG', { kind: assistantDefaults,
    fallback: new Map(), usual: 'none',
    message: "The config and context that the graphs' own assistants are made with, by graph: " +
      '`{"agent": {"configurable": {"model": "a"}, "context": {}}}`. An assistant ' +
      'that exists keeps its own. Without it, `env` of langgraph.json says it.' }),
  streamEnd: serve('--stream-end <how>', 'HEDDLE_STREAM_END', { kind: onOrOff, fallback: 'on',
    message:
      'Whether streams of runs have the event `end`. Clients that do not know it, as those ' +
      'of assistant-ui, log an error about it.' }),
  mcp: serve('--mcp <how>', 'HEDDLE_MCP', { kind: onOrOff, fallback: 'on',
    message:
      'Whether agents reach assistants as tools, by the Model Context Protocol at `/mcp`.' }),
  a2a: serve('--a2a <how>', 'HEDDLE_A2A', { kind: onOrOff, fallback: 'on',
    message: 'Whether other agents may call the assistants by A2A, at `/a2a/`.' }),
  a2aTools: serve('--a2a-tools <names>', 'A2A_ALLOWED_TOOL_CALL_RESULTS', { kind: texts,
    fallback: [], usual: 'none',
    message: 'Tools whose results other agents see, as data: `search,weather`; `*` for all.' }),
  a2aKey: serve('--a2a-key <file>', 'HEDDLE_A2A_KEY', { kind: path, fallback: undefined,
    usual: 'none: they are not signed',
    message: 'The private key (PEM) that agent cards are signed with.' }),
  appTimeout: serve('--app-timeout <seconds>', 'HEDDLE_APP_TIMEOUT', { kind: wholeNumber(1, 600),
    fallback: 10,
    message: 'How long the code of a login may take to answer, and the thread of a login and an ' +
      'app to show that it lives, in seconds. A thread that is silent for longer is replaced.' }),
  drainMs: serve('--drain-ms <ms>', 'HEDDLE_DRAIN_MS', { kind: wholeNumber(0, 3_600_000),
    fallback: undefined, usual: '5000; with Cassandra 20000',
    message: 'How long a shutdown may take; unfinished runs resume elsewhere or at the next ' +
      'start.' }),
  workerHeapMb: serve('--worker-heap-mb <number>', 'HEDDLE_WORKER_HEAP_MB', {
    kind: wholeNumber(64, 1_048_576),
    fallback: undefined,
    usual: "the container's memory less 1024 (at most half of it) for the server, by workers; " +
      '128 to 4096',
    message: 'What the graphs of one worker may fill, in MiB; a run that fills it fails.',
  }),
  graphsMemoryMb: serve('--graphs-memory-mb <number>', 'HEDDLE_GRAPHS_MEMORY_MB', {
    kind: wholeNumber(128, 16_777_216),
    fallback: undefined,
    usual: "half of the container's memory",
    message: 'What the processes of all deployments may fill together, in MiB.',
  }),
  revisionsDiskMb: serve('--revisions-disk-mb <number>', 'HEDDLE_REVISIONS_DISK_MB', {
    kind: wholeNumber(100, 1_000_000_000),
    fallback: 5_120,
    message: 'MiB of unpacked revisions in the data folder; what is not used goes first.',
  }),
  builds: serve('--builds <how>', 'HEDDLE_BUILDS', { kind: onOrOff, fallback: undefined,
    usual: 'on; with Cassandra off',
    message: 'Whether it installs and builds projects for `heddle deploy --remote`.' }),

  auth: access('--auth <how>', 'HEDDLE_AUTH', { kind: oneOf(['none', 'keys']), fallback: 'none',
    message: 'Who may call: `none` lets everybody in, `keys` asks for an API key or a token.' }),
  authTenant: access('--auth-tenant <tenant>', 'HEDDLE_AUTH_TENANT', { kind: tenantName,
    fallback: undefined, usual: '`local`',
    message: 'The tenant whose data users of the login of the own project see (`auth` in ' +
      'langgraph.json).' }),
  insecureListen: access('--insecure-listen', 'HEDDLE_INSECURE_LISTEN', { kind: yesOrNo,
    fallback: false, usual: 'no',
    message: 'Listen where others can reach it without `--auth keys`: they may do everything.' }),
  allowOrigin: access('--allow-origin <origin...>', 'HEDDLE_ALLOW_ORIGIN', { kind: origins,
    fallback: [], usual: 'those of this machine',
    message: 'Origins of web pages that may call, `*` for all.' }),
  allowHost: access('--allow-host <name...>', 'HEDDLE_ALLOW_HOST', { kind: hosts, fallback: [],
    usual: 'those of this machine and its addresses',
    message: 'Names by which callers may call without `--auth keys`, `*` for any.' }),
  deploymentsDomain: access('--deployments-domain <name>', 'HEDDLE_DEPLOYMENTS_DOMAIN', {
    kind: domain,
    fallback: undefined,
    usual: 'none: they are below `/d/`',
    message: 'Deployments answer as `<name>.<this domain>`, too.',
  }),
  deploymentsHosts: access('--deployments-hosts <names>', 'HEDDLE_DEPLOYMENTS_HOSTS', {
    kind: hostPatterns,
    fallback: [],
    usual: 'none',
    message:
      'Host names that admins may give to deployments: `shop.example.org,*.apps.example.org`.',
  }),
  graphsUsers: access('--graphs-users <ids>', 'HEDDLE_GRAPHS_USERS', { kind: userRange,
    fallback: undefined, usual: 'a server that is root chooses some, others have none',
    message: 'Users of Linux that nothing else uses, one for the code of each deployment: ' +
      '`70000-70099`. The server has to be root. `off` lets the code run as the user of the ' +
      'server.' }),
  trustTenants: access('--trust-tenants', 'HEDDLE_TRUST_TENANTS', { kind: yesOrNo, fallback: false,
    usual: 'no: without `--graphs-users`, one tenant has deployments',
    message: 'Let every tenant deploy code: it runs beside the code and the data of all others.' }),
  ignoreAuth: access('--ignore-auth', 'HEDDLE_IGNORE_AUTH', { kind: yesOrNo, fallback: false,
    usual: 'no: its login is asked',
    message:
      'Serve projects whose langgraph.json names `auth` without it: what it guards is open ' +
      'to every caller.' }),
  jwtKeys: access('--jwt-keys <file or URL>', 'HEDDLE_JWT_KEYS', { kind: anyText, fallback: '',
    usual: 'no tokens',
    message: 'Accept tokens of users, signed by a key of this JSON web key set.' }),
  jwtIssuer: access('--jwt-issuer <text>', 'HEDDLE_JWT_ISSUER', { kind: anyText, fallback: '',
    message: 'The issuer that tokens must have.' }),
  jwtAudience: access('--jwt-audience <text>', 'HEDDLE_JWT_AUDIENCE', { kind: anyText, fallback: '',
    usual: 'any', message: 'The audience that tokens must have.' }),
  trustedProxies: access('--trusted-proxies <ranges>', 'HEDDLE_TRUSTED_PROXIES', { kind: ranges,
    fallback: [], usual: 'none',
    message: 'Proxies whose `X-Forwarded-For` is believed: `10.0.0.0/8,fd00::/8`.' }),
  userProxies: access('--user-proxies <ranges>', 'HEDDLE_USER_PROXIES', { kind: ranges,
    fallback: [], usual: 'none',
    message: 'Proxies whose `x-user-id` and `x-tenant-id` are believed.' }),
  secretsKey: access('--secrets-key <file>', 'HEDDLE_SECRETS_KEY', { kind: path,
    fallback: undefined,
    usual: '`secrets.key` in the data directory, made when it is needed; with Cassandra, no ' +
      'secrets can be stored',
    message: 'A file of 32 random bytes: the key of the secrets that workspaces and deployments ' +
      'store. Of several keys, one after the other, the first seals and all open.' }),
  egressProxy: access('--egress-proxy <url>', 'HEDDLE_EGRESS_PROXY', { kind: webAddress,
    fallback: undefined, usual: 'none', isSecret: true,
    message: 'The proxy for calls to webhooks and models.' }),
  egressAllow: access('--egress-allow <targets>', 'HEDDLE_EGRESS_ALLOW', { kind: targets,
    fallback: [], usual: 'none', message: 'Private addresses, ranges and hosts of webhooks and ' +
      'models: `10.1.0.0/16,hooks.internal`.' }),

  localModels: access('--local-models <origins>', 'HEDDLE_LOCAL_MODELS', { kind: localOrigins,
    fallback: ['http://127.0.0.1:11434', 'http://127.0.0.1:1234'],
    usual: 'those of Ollama and LM Studio',
    message: 'Programs on this machine whose models the playground finds; `off` for none. They ' +
      'count only where the server listens on this machine alone, without `--auth keys`.' }),

  store: store('--store <kind>', 'HEDDLE_STORE', { kind: oneOf(['embedded', 'cassandra']),
    fallback: 'embedded',
    message: 'Where threads are stored: in the data folder or in Cassandra.' }),
  contactPoints: store('--contact-points <addresses>', 'HEDDLE_CONTACT_POINTS', { kind: texts,
    fallback: ['127.0.0.1'], usual: '127.0.0.1',
    message: 'Nodes of Cassandra to contact first: `a,b,c`.' }),
  localDatacenter: store('--local-datacenter <name>', 'HEDDLE_LOCAL_DATACENTER', { kind: anyText,
    fallback: '', message: 'The data center of Cassandra that this server belongs to.' }),
  keyspace: store('--keyspace <name>', 'HEDDLE_KEYSPACE', { kind: anyText, fallback: 'heddle',
    message: 'The keyspace of the data; `<name>_control` is created beside it.' }),
  cassandraUser: store('--cassandra-user <name>', 'HEDDLE_CASSANDRA_USER', { kind: anyText,
    fallback: '', usual: 'none', message: 'The user for Cassandra.' }),
  cassandraPassword: store('--cassandra-password <text>', 'HEDDLE_CASSANDRA_PASSWORD', {
    kind: anyText,
    fallback: '',
    isSecret: true,
    message: 'The password of that user. Better set by the variable: others can see what was ' +
      'typed.',
  }),
  tlsCa: store('--tls-ca <file>', 'HEDDLE_TLS_CA', { kind: path, fallback: undefined,
    usual: 'no encryption',
    message: 'Encrypt the connection to Cassandra; the authority of its certificate (PEM).' }),
  tlsCert: store('--tls-cert <file>', 'HEDDLE_TLS_CERT', { kind: path, fallback: undefined,
    usual: 'none',
    message: 'The certificate that this server shows to Cassandra, with `--tls-key` (PEM).' }),
  tlsKey: store('--tls-key <file>', 'HEDDLE_TLS_KEY', { kind: path, fallback: undefined,
    usual: 'none', message: 'The private key of that certificate (PEM).' }),
  commit: store('--commit <mode>', 'HEDDLE_COMMIT', {
    /**
     * validate  a plain write, then a shared read that confirms that this member still owns it
     * lwt       a compare-and-set for each row of the log: slower, and simpler to reason about
     */
    kind: oneOf(['validate', 'lwt']),
    fallback: 'validate',
    message: 'How rows of the log are committed. `lwt` is slower: one compare-and-set per row.',
  }),
  logCacheMb: store('--log-cache-mb <number>', 'HEDDLE_LOG_CACHE_MB', {
    kind: wholeNumber(0, 1_048_576),
    fallback: 128,
    message: 'MiB of memory for rows of threads that this server uses, so that it need not read ' +
      'them from Cassandra again; 0 for none.',
  }),

  roles: cluster('--roles <roles>', 'HEDDLE_ROLES', { kind: someOf(['frontdoor', 'member']),
    fallback: ['frontdoor', 'member'], usual: 'frontdoor,member',
    message: 'What it does: `frontdoor` answers clients, `member` owns threads.' }),
  clusterName: cluster('--cluster-name <name>', 'HEDDLE_CLUSTER_NAME', { kind: anyText,
    fallback: 'heddle', message: 'Which cluster this is: the same for all its members.' }),
  clusterSecret: cluster('--cluster-secret <text>', 'HEDDLE_CLUSTER_SECRET', { kind: anyText,
    fallback: '', usual: 'one stored in Cassandra', isSecret: true,
    message: 'The secret by which members trust each other. Better set by the variable. Of ' +
      'several, with commas between them, the first is sent and all are accepted.' }),
  memberHost: cluster('--member-host <address>', 'HEDDLE_MEMBER_HOST', { kind: anyText,
    fallback: '', usual: 'its address towards Cassandra',
    message: 'Where other members reach this one.' }),
  memberPort: cluster('--member-port <number>', 'HEDDLE_MEMBER_PORT', { kind: port, fallback: 0,
    usual: 'a free one', message: 'The port for other members; 0 picks a free one.' }),
  memberCa: cluster('--member-ca <file>', 'HEDDLE_MEMBER_CA', { kind: path, fallback: undefined,
    usual: 'no TLS', message: 'Members use TLS; the authority of their certificates (PEM).' }),
  memberCert: cluster('--member-cert <file>', 'HEDDLE_MEMBER_CERT', { kind: path,
    fallback: undefined, usual: 'none',
    message: 'The certificate that this member shows to others (PEM).' }),
  memberKey: cluster('--member-key <file>', 'HEDDLE_MEMBER_KEY', { kind: path, fallback: undefined,
    usual: 'none', message: 'The private key of that certificate (PEM).' }),
  region: cluster('--region <name>', 'HEDDLE_REGION', { kind: oneOf(regionNames), fallback: 'us',
    message: 'Which region this server is in.' }),
  regionUrl: cluster('--region-url <urls>', 'HEDDLE_REGION_URL', { kind: urlsOf(regionNames),
    fallback: { us: '', eu: '' }, usual: 'not sent',
    message: 'The URLs `us=https://…,eu=https://…`, sent to callers with a key of another ' +
      'region.' }),

  limits: limits('--limits <how>', 'HEDDLE_LIMITS', { kind: onOrOff, fallback: undefined,
    usual: 'on if `--region` is set', message: 'Whether the rates of requests are limited.' }),
  limitOverrides: limits('--limit-overrides <file>', 'HEDDLE_LIMIT_OVERRIDES', { kind: path,
    fallback: undefined, usual: 'none',
    message: 'A file of your own limits, by name: `{"default-key": {"count": 5000}}`.' }),
  quotaStoredMb: limits('--quota-stored-mb <number>', 'HEDDLE_QUOTA_STORED_MB', { kind: quota,
    fallback: undefined, usual: '102400; any with `--auth none`',
    message: 'MiB that one tenant may store, 0 for any.' }),
  quotaThreads: limits('--quota-threads <number>', 'HEDDLE_QUOTA_THREADS', { kind: quota,
    fallback: undefined, usual: '1000000; any with `--auth none`',
    message: 'Threads that one tenant may have, 0 for any.' }),
  quotaRuns: limits('--quota-runs <number>', 'HEDDLE_QUOTA_RUNS', { kind: quota, fallback: 10_000,
    message: 'Unfinished runs that one tenant may have, 0 for any.' }),
  quotaDelayedRuns: limits('--quota-delayed-runs <number>', 'HEDDLE_QUOTA_DELAYED_RUNS', {
    kind: quota,
    fallback: 100_000,
    message: 'Runs of one tenant that may wait for their time, 0 for any.',
  }),
  quotaCrons: limits('--quota-crons <number>', 'HEDDLE_QUOTA_CRONS', { kind: quota,
    fallback: 10_000, message: 'Crons that one tenant may have, 0 for any.' }),
  quotaTracesMb: limits('--quota-traces-mb <number>', 'HEDDLE_QUOTA_TRACES_MB', { kind: quota,
    fallback: 0, message: 'MiB of traces that one tenant may keep in the data folder, 0 for ' +
      'any; what arrived first goes. Not for Cassandra.' }),
  quotaStreams: limits('--quota-streams <number>', 'HEDDLE_QUOTA_STREAMS', { kind: quota,
    fallback: 5_000,
    message: 'Streams and waiting requests of one tenant at one server, 0 for any.' }),
  quotaModelCalls: limits('--quota-model-calls <number>', 'HEDDLE_QUOTA_MODEL_CALLS', {
    kind: quota,
    fallback: 50_000,
    message: 'Calls of models by the playground and experiments of one tenant on a day, 0 for any.',
  }),
  quotaModelTokens: limits('--quota-model-tokens <number>', 'HEDDLE_QUOTA_MODEL_TOKENS', {
    kind: quota,
    fallback: 100_000_000,
    message: 'Tokens of these calls on a day, 0 for any.',
  }),
  connectionsPerAddress: limits('--connections-per-address <number>',
    'HEDDLE_CONNECTIONS_PER_ADDRESS', { kind: wholeNumber(1, 1_000_000), fallback: 1_000,
    message: 'Connections that each address may have open; this machine and trusted ' +
      'proxies may have more.' }),

  logLevel: observability('--log-level <level>', 'HEDDLE_LOG_LEVEL', {
    kind: oneOf(['debug', 'info', 'warn', 'error', 'silent']),
    fallback: 'info',
    message: 'The least important messages that are logged.',
  }),
  metricsPort: observability('--metrics-port <number>', 'HEDDLE_METRICS_PORT', { kind: port,
    fallback: undefined, usual: '`/metrics` of the front door for callers on this machine only',
    message: 'A separate port for metrics; 0 picks a free one.' }),
  metricsHost: observability('--metrics-host <address>', 'HEDDLE_METRICS_HOST', { kind: anyText,
    fallback: '127.0.0.1', message: 'The address of that port.' }),
  ownTraces: observability('--own-traces <how>', 'HEDDLE_OWN_TRACES', {
    /**
     * off   runs of this server are not among the traces
     * runs  each run is a trace: a view of the log of its thread, which is not stored again
     * deep  the project's own library traces each step, and this server stores the traces
     */
    kind: oneOf(['off', 'runs', 'deep']),
    fallback: 'runs',
    message: 'Whether the runs of this server are among the traces, and `deep` with each step.',
  }),
  ownTracesRatio: observability('--own-traces-ratio <number>', 'HEDDLE_OWN_TRACES_RATIO', {
    kind: share,
    fallback: 1,
    message: 'The share of runs that `deep` traces, 0 to 1; of others only the runs are traces.',
  }),
  record: observability('--record <share>', 'HEDDLE_RECORD', { kind: runShare, fallback: undefined,
    usual: '`heddle.record` of langgraph.json',
    message: 'The share of runs of the own project whose outgoing calls are recorded: `off`, ' +
      '`all` or `10%`.' }),
  tracesDiskMb: observability('--traces-disk-mb <number>', 'HEDDLE_TRACES_DISK_MB', {
    kind: wholeNumber(1, 1_000_000_000),
    fallback: 10_240,
    message: 'MiB of traces in the data folder; the tenant with most loses what arrived first. ' +
      'Not for Cassandra.',
  }),
  tracesWords: observability('--traces-words <how>', 'HEDDLE_TRACES_WORDS', { kind: onOrOff,
    fallback: 'on', message: 'Whether the data folder has an index of the words of traces.' }),
  billing: observability('--billing <how>', 'HEDDLE_BILLING', { kind: onOrOff, fallback: 'off',
    message: 'Whether each finished run leaves a billing record; only in the region `us`.' }),
} as const

/** The name of a setting. */
export type SettingName = keyof typeof knownSettings

/** The value of a setting, as its kind reads it. */
export type ValueOf<Name extends SettingName> = typeof knownSettings[Name] extends
  Setting<infer Value> ? Value : never

/** The option and the variable of a setting, as an operator knows it. */
export function namesOf(name: SettingName): string {
  const { flags, variable } = knownSettings[name]
  return `${flags.split(' ')[0]} (or ${variable})`
}

/** Every setting of a server: how it is given, and what it does. */

import { availableParallelism } from 'node:os'

/** From the most to the least. */
export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const

/** How a setting is given: as text by a flag or a variable. */
interface Setting {
  readonly flags: string
  readonly variable: string
  readonly message: string
  /** Graphs never see it, and `<variable>_FILE` may name a file that has it. */
  readonly isSecret: boolean
}

const setting = (flags: string, variable: string, message: string): Setting => ({ flags, variable,
  message, isSecret: false })

const secret = (flags: string, variable: string, message: string): Setting => ({ flags, variable,
  message, isSecret: true })

/** At least two: a graph that spins must leave one to the others. At most eight, for memory. */
export const defaultWorkers = Math.min(Math.max(availableParallelism(), 2), 8)

/** In the order of --help. */
export const knownSettings = {
  config: setting('--config <path>', 'HEDDLE_CONFIG',
    'The langgraph.json to serve, or its folder (default: the starter project).'),
  port: setting('--port <number>', 'PORT',
    'The port to listen on; 0 picks a free one (default: 2024, or the next one that is free).'),
  host: setting('--host <address>', 'HEDDLE_HOST',
    'The address to listen on (default: 127.0.0.1).'),
  insecureListen: setting('--insecure-listen', 'HEDDLE_INSECURE_LISTEN',
    'Listen where others can reach it without --auth keys: they may do everything.'),
  auth: setting('--auth <how>', 'HEDDLE_AUTH',
    'Who may call: none lets everybody in, keys asks for an API key or a session (default: none).'),
  jwtKeys: setting('--jwt-keys <file or URL>', 'HEDDLE_JWT_KEYS',
    'Accept sessions signed by a key of this JSON web key set (default: no sessions).'),
  jwtIssuer: setting('--jwt-issuer <text>', 'HEDDLE_JWT_ISSUER',
    'The issuer that sessions must have.'),
  jwtAudience: setting('--jwt-audience <text>', 'HEDDLE_JWT_AUDIENCE',
    'The audience that sessions must have (default: any).'),
  region: setting('--region <name>', 'HEDDLE_REGION',
    'Which region this is: us or eu (default: us).'),
  regionUrl: setting('--region-url <urls>', 'HEDDLE_REGION_URL',
    'The URL of each region, told to callers with a key of another one: ' +
      'us=https://…,eu=https://… (default: not told).'),
  data: setting('--data <folder>', 'HEDDLE_DATA_DIR',
    'Where everything is stored (default: .heddle in the folder of the project).'),
  workers: setting('--workers <number>', 'HEDDLE_WORKERS',
    `How many worker threads run graphs (default here: ${defaultWorkers}).`),
  workerHeapMb: setting('--worker-heap-mb <number>', 'HEDDLE_WORKER_HEAP_MB',
    'The memory that the graphs of one worker may fill; a run that fills it fails (default: the ' +
      'memory of the container less 1024 for the server, by workers, at most 4096).'),
  graphEnv: setting('--graph-env <names>', 'HEDDLE_GRAPH_ENV',
    'The environment variables that graphs see: OPENAI_API_KEY,MY_* (default: *, which is all ' +
      'but HEDDLE_* and OTEL_*).'),
  drainMs: setting('--drain-ms <ms>', 'HEDDLE_DRAIN_MS',
    'How long a shutdown may take; unfinished runs resume elsewhere or at the next start ' +
      '(default: 5000, with Cassandra 20000).'),
  allowOrigin: setting('--allow-origin <origin...>', 'HEDDLE_ALLOW_ORIGIN',
    'Origins of web pages that may call, * for all (default: those of this machine).'),
  allowHost: setting('--allow-host <name...>', 'HEDDLE_ALLOW_HOST',
    'Names by which callers may call without --auth keys, * for any (default: those of this ' +
      'machine, and its addresses).'),
  limits: setting('--limits <how>', 'HEDDLE_LIMITS',
    'Rate limits: on or off (default: on if --region is set).'),
  billing: setting('--billing <how>', 'HEDDLE_BILLING',
    'Billing records of runs: on or off; only in the region us (default: off).'),
  limitOverrides: setting('--limit-overrides <file>', 'HEDDLE_LIMIT_OVERRIDES',
    'A file of your own limits, by name: {"default-key": {"count": 5000}}.'),
  quotaStoredMb: setting('--quota-stored-mb <number>', 'HEDDLE_QUOTA_STORED_MB',
    'MiB that one tenant may store, 0 for any (default: 102400; any with --auth none).'),
  quotaThreads: setting('--quota-threads <number>', 'HEDDLE_QUOTA_THREADS',
    'Threads that one tenant may have, 0 for any (default: 1000000; any with --auth none).'),
  quotaRuns: setting('--quota-runs <number>', 'HEDDLE_QUOTA_RUNS',
    'Unfinished runs that one tenant may have, 0 for any (default: 10000).'),
  quotaDelayedRuns: setting('--quota-delayed-runs <number>', 'HEDDLE_QUOTA_DELAYED_RUNS',
    'Runs of one tenant that may wait for their time, 0 for any (default: 100000).'),
  quotaStreams: setting('--quota-streams <number>', 'HEDDLE_QUOTA_STREAMS',
    'Streams and waiting requests of one tenant at one server, 0 for any (default: 5000).'),
  trustedProxies: setting('--trusted-proxies <ranges>', 'HEDDLE_TRUSTED_PROXIES',
    'Proxies whose X-Forwarded-For is believed: 10.0.0.0/8,fd00::/8 (default: none).'),
  userProxies: setting('--user-proxies <ranges>', 'HEDDLE_USER_PROXIES',
    'Proxies whose x-user-id and x-tenant-id are believed (default: none).'),
  connectionsPerAddress: setting('--connections-per-address <number>',
    'HEDDLE_CONNECTIONS_PER_ADDRESS',
    'How many connections each address may have open; this machine and the proxies named above ' +
      'may have more (default: 1000).'),
  reload: setting('--no-reload', 'HEDDLE_RELOAD',
    'Do not reload the project when one of its files changes.'),
  egressProxy: secret('--egress-proxy <url>', 'HEDDLE_EGRESS_PROXY',
    'The proxy for webhook calls (default: none).'),
  egressAllow: setting('--egress-allow <targets>', 'HEDDLE_EGRESS_ALLOW',
    'Private addresses, ranges and hosts that webhooks may call: ' +
      '10.1.0.0/16,hooks.internal (default: none).'),
  store: setting('--store <kind>', 'HEDDLE_STORE',
    'Where threads are stored: embedded (in the data folder) or cassandra (default: embedded).'),
  contactPoints: setting('--contact-points <addresses>', 'HEDDLE_CONTACT_POINTS',
    'Nodes of Cassandra to contact first: a,b,c (default: 127.0.0.1).'),
  localDatacenter: setting('--local-datacenter <name>', 'HEDDLE_LOCAL_DATACENTER',
    'The data center of Cassandra that this server belongs to.'),
  keyspace: setting('--keyspace <name>', 'HEDDLE_KEYSPACE',
    'The keyspace of the data; <name>_control is created beside it (default: heddle).'),
  cassandraUser: setting('--cassandra-user <name>', 'HEDDLE_CASSANDRA_USER',
    'The user for Cassandra (default: none).'),
  cassandraPassword: secret('--cassandra-password <text>', 'HEDDLE_CASSANDRA_PASSWORD',
    'Its password. Better set by the variable: others can see what was typed.'),
  tlsCa: setting('--tls-ca <file>', 'HEDDLE_TLS_CA',
    'Encrypt the connection to Cassandra; the authority of its certificate (PEM).'),
  tlsCert: setting('--tls-cert <file>', 'HEDDLE_TLS_CERT',
    'The certificate that this server shows to Cassandra, with --tls-key (PEM).'),
  tlsKey: setting('--tls-key <file>', 'HEDDLE_TLS_KEY',
    'The private key of that certificate (PEM).'),
  commit: setting('--commit <mode>', 'HEDDLE_COMMIT',
    'How rows of the log are committed: validate, or lwt, which is slower (default: validate).'),
  memberHost: setting('--member-host <address>', 'HEDDLE_MEMBER_HOST',
    'Where other members reach this one (default: its address towards Cassandra).'),
  memberPort: setting('--member-port <number>', 'HEDDLE_MEMBER_PORT',
    'The port for other members; 0 picks a free one (default: 0).'),
  roles: setting('--roles <roles>', 'HEDDLE_ROLES',
    'What it does: frontdoor answers clients, member owns threads (default: both).'),
  clusterName: setting('--cluster-name <name>', 'HEDDLE_CLUSTER_NAME',
    'Which cluster this is: the same for all its members (default: heddle).'),
  clusterSecret: secret('--cluster-secret <text>', 'HEDDLE_CLUSTER_SECRET',
    'The secret by which members trust each other; better set by the variable (default: one ' +
      'stored in Cassandra).'),
  memberCa: setting('--member-ca <file>', 'HEDDLE_MEMBER_CA',
    'Members use TLS; the authority of their certificates (PEM).'),
  memberCert: setting('--member-cert <file>', 'HEDDLE_MEMBER_CERT',
    'The certificate that this member shows to others (PEM).'),
  memberKey: setting('--member-key <file>', 'HEDDLE_MEMBER_KEY',
    'The private key of that certificate (PEM).'),
  metricsPort: setting('--metrics-port <number>', 'HEDDLE_METRICS_PORT',
    'A separate port for metrics; 0 picks a free one (default: /metrics of the front door, for ' +
      'callers on this machine only).'),
  metricsHost: setting('--metrics-host <address>', 'HEDDLE_METRICS_HOST',
    'The address of that port (default: 127.0.0.1).'),
  logLevel: setting('--log-level <level>', 'HEDDLE_LOG_LEVEL',
    `The least that is logged: ${logLevels.join(', ')} (default: info).`),
}

export type SettingName = keyof typeof knownSettings

/** As an operator knows it: its flag, and its variable. */
export function namesOf(name: SettingName): string {
  const { flags, variable } = knownSettings[name]
  return `${flags.split(' ')[0]} (or ${variable})`
}

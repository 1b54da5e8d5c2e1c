/** Every setting of a server: how it is given, and what it does. */

import { availableParallelism } from 'node:os'

/** What is logged at the least. */
export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const

/** How a setting is given: as text by a flag or a variable. */
export interface Setting {
  readonly flags: string
  readonly variable: string
  readonly sentence: string
}

/** Two: a graph that spins must leave a worker to the others. Eight: each takes its memory. */
export const defaultWorkers = Math.min(Math.max(availableParallelism(), 2), 8)

/** In the order in which help tells them. */
export const knownSettings = {
  config: {
    flags: '--config <path>',
    variable: 'HEDDLE_CONFIG',
    sentence: 'The langgraph.json to serve, or its folder (default: the starter project).',
  },
  port: {
    flags: '--port <number>',
    variable: 'PORT',
    sentence: 'Where to listen; 0 takes any port that is free (default: 2024).',
  },
  host: {
    flags: '--host <address>',
    variable: 'HEDDLE_HOST',
    sentence: 'The address to listen on (default: 127.0.0.1).',
  },
  insecureListen: {
    flags: '--insecure-listen',
    variable: 'HEDDLE_INSECURE_LISTEN',
    sentence: 'Listen where others can reach it without --auth keys: whoever reaches it may do ' +
      'everything.',
  },
  auth: {
    flags: '--auth <how>',
    variable: 'HEDDLE_AUTH',
    sentence: 'Who may call: none asks nobody, keys asks for an API key or a session ' +
      '(default: none).',
  },
  jwtKeys: {
    flags: '--jwt-keys <file or URL>',
    variable: 'HEDDLE_JWT_KEYS',
    sentence: 'Sessions count too: signed by a key of this JSON web key set (default: none do).',
  },
  jwtIssuer: {
    flags: '--jwt-issuer <text>',
    variable: 'HEDDLE_JWT_ISSUER',
    sentence: 'The issuer of sessions, as it stands in them.',
  },
  jwtAudience: {
    flags: '--jwt-audience <text>',
    variable: 'HEDDLE_JWT_AUDIENCE',
    sentence: 'Sessions must be meant for this audience (default: for any).',
  },
  region: {
    flags: '--region <name>',
    variable: 'HEDDLE_REGION',
    sentence: 'Which region this is: us or eu (default: us).',
  },
  regionUrl: {
    flags: '--region-url <urls>',
    variable: 'HEDDLE_REGION_URL',
    sentence: 'Where each region answers, told to callers with a key of another one: ' +
      'us=https://…,eu=https://… (default: not told).',
  },
  data: {
    flags: '--data <folder>',
    variable: 'HEDDLE_DATA_DIR',
    sentence: 'Where everything is kept (default: .heddle in the folder of the project).',
  },
  workers: {
    flags: '--workers <number>',
    variable: 'HEDDLE_WORKERS',
    sentence: `How many worker threads run graphs (default here: ${defaultWorkers}).`,
  },
  drainMs: {
    flags: '--drain-ms <ms>',
    variable: 'HEDDLE_DRAIN_MS',
    sentence: 'How long ending may take; runs cut short resume elsewhere or at the next start ' +
      '(default: 5000, with Cassandra 20000).',
  },
  allowOrigin: {
    flags: '--allow-origin <origin...>',
    variable: 'HEDDLE_ALLOW_ORIGIN',
    sentence: 'Web pages that may call, * for all (default: those of this machine).',
  },
  limits: {
    flags: '--limits <how>',
    variable: 'HEDDLE_LIMITS',
    sentence: 'Whether requests are limited: on or off (default: on where a region is named).',
  },
  billing: {
    flags: '--billing <how>',
    variable: 'HEDDLE_BILLING',
    sentence: 'Whether a record is made of each run that is over, for bills: on or off; only in ' +
      'the region us (default: off).',
  },
  limitOverrides: {
    flags: '--limit-overrides <file>',
    variable: 'HEDDLE_LIMIT_OVERRIDES',
    sentence: 'Limits of your own by their names: {"default-key": {"count": 5000}}.',
  },
  trustedProxies: {
    flags: '--trusted-proxies <ranges>',
    variable: 'HEDDLE_TRUSTED_PROXIES',
    sentence: 'Proxies that are believed about whom they speak for: 10.0.0.0/8,fd00::/8 ' +
      '(default: none).',
  },
  userProxies: {
    flags: '--user-proxies <ranges>',
    variable: 'HEDDLE_USER_PROXIES',
    sentence: 'Proxies that are believed about their users, x-user-id and x-tenant-id ' +
      '(default: none).',
  },
  reload: {
    flags: '--no-reload',
    variable: 'HEDDLE_RELOAD',
    sentence: 'Do not load the project anew when one of its files changes.',
  },
  egressProxy: {
    flags: '--egress-proxy <url>',
    variable: 'HEDDLE_EGRESS_PROXY',
    sentence: 'The proxy through which webhooks are called (default: none).',
  },
  egressAllow: {
    flags: '--egress-allow <targets>',
    variable: 'HEDDLE_EGRESS_ALLOW',
    sentence: 'Private addresses, ranges and hosts that may be called all the same: ' +
      '10.1.0.0/16,hooks.internal (default: none).',
  },
  store: {
    flags: '--store <kind>',
    variable: 'HEDDLE_STORE',
    sentence: 'Where threads are kept: embedded (in the data folder) or cassandra ' +
      '(default: embedded).',
  },
  contactPoints: {
    flags: '--contact-points <addresses>',
    variable: 'HEDDLE_CONTACT_POINTS',
    sentence: 'Nodes of Cassandra to ask first: a,b,c (default: 127.0.0.1).',
  },
  localDatacenter: {
    flags: '--local-datacenter <name>',
    variable: 'HEDDLE_LOCAL_DATACENTER',
    sentence: 'The data center of Cassandra that this server belongs to.',
  },
  keyspace: {
    flags: '--keyspace <name>',
    variable: 'HEDDLE_KEYSPACE',
    sentence: 'The keyspace of the data; <name>_control stands beside it (default: heddle).',
  },
  cassandraUser: {
    flags: '--cassandra-user <name>',
    variable: 'HEDDLE_CASSANDRA_USER',
    sentence: 'Who this server is to Cassandra (default: nobody).',
  },
  cassandraPassword: {
    flags: '--cassandra-password <text>',
    variable: 'HEDDLE_CASSANDRA_PASSWORD',
    sentence: 'Better given by the variable: others can read what was typed.',
  },
  tlsCa: {
    flags: '--tls-ca <file>',
    variable: 'HEDDLE_TLS_CA',
    sentence: 'Encrypt the connection to Cassandra; its certificate was signed by this one (PEM).',
  },
  tlsCert: {
    flags: '--tls-cert <file>',
    variable: 'HEDDLE_TLS_CERT',
    sentence: 'The certificate that this server shows to Cassandra (PEM).',
  },
  tlsKey: {
    flags: '--tls-key <file>',
    variable: 'HEDDLE_TLS_KEY',
    sentence: 'The private key of that certificate (PEM).',
  },
  commit: {
    flags: '--commit <mode>',
    variable: 'HEDDLE_COMMIT',
    sentence: 'How rows of the log are committed: validate, or lwt, which is slower ' +
      '(default: validate).',
  },
  memberHost: {
    flags: '--member-host <address>',
    variable: 'HEDDLE_MEMBER_HOST',
    sentence: 'Where other members reach this one (default: its address towards Cassandra).',
  },
  memberPort: {
    flags: '--member-port <number>',
    variable: 'HEDDLE_MEMBER_PORT',
    sentence: 'The port for other members; 0 takes any that is free (default: 0).',
  },
  roles: {
    flags: '--roles <roles>',
    variable: 'HEDDLE_ROLES',
    sentence: 'What it does: frontdoor answers clients, member keeps threads (default: both).',
  },
  clusterName: {
    flags: '--cluster-name <name>',
    variable: 'HEDDLE_CLUSTER_NAME',
    sentence: 'Which cluster this is: the same for all its members (default: heddle).',
  },
  clusterSecret: {
    flags: '--cluster-secret <text>',
    variable: 'HEDDLE_CLUSTER_SECRET',
    sentence: 'By which members know each other; better given by the variable (default: one ' +
      'that is kept in Cassandra).',
  },
  memberCa: {
    flags: '--member-ca <file>',
    variable: 'HEDDLE_MEMBER_CA',
    sentence: 'Members speak TLS, with certificates that this one signed (PEM).',
  },
  memberCert: {
    flags: '--member-cert <file>',
    variable: 'HEDDLE_MEMBER_CERT',
    sentence: 'The certificate that this member shows to others (PEM).',
  },
  memberKey: {
    flags: '--member-key <file>',
    variable: 'HEDDLE_MEMBER_KEY',
    sentence: 'The private key of that certificate (PEM).',
  },
  metricsPort: {
    flags: '--metrics-port <number>',
    variable: 'HEDDLE_METRICS_PORT',
    sentence: 'Tell metrics on a port of their own; 0 takes any that is free (default: /metrics ' +
      'of the front door, for callers of this machine only).',
  },
  metricsHost: {
    flags: '--metrics-host <address>',
    variable: 'HEDDLE_METRICS_HOST',
    sentence: 'The address of that port (default: 127.0.0.1).',
  },
  logLevel: {
    flags: '--log-level <level>',
    variable: 'HEDDLE_LOG_LEVEL',
    sentence: `The least that is logged: ${logLevels.join(', ')} (default: info).`,
  },
} as const satisfies Record<string, Setting>

export type SettingName = keyof typeof knownSettings

/** The command line of `npm run cluster`. */

import { existsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'

import { regionNames } from '../../src/settings/region.ts'
import { typedOptions, wholeNumber } from '../typed-options.ts'

/** The text of --help. */
export const help = `Usage: npm run cluster -- [--members 3] [--cassandra 3] [--port 2024] [option…]
       npm run cluster -- status [--data DIR]

Runs a cluster on this machine: members on real Apache Cassandra, each in a process of its own.
Ctrl-C ends all gracefully, a second one at once. It needs Java 17, and the first time Maven.

  --members N            how many members; each serves everything (3)
  --cassandra N          how many nodes of Cassandra (3)
  --port P               port of the first member; the others have the next ones (2024)
  --region NAME          the data center of Cassandra and all members (us)
  --regions us,eu        a cluster for each region, each in a folder of its own, with API keys
  --limits on|off        whether requests are limited (off; on with --regions)
  --config F             the langgraph.json to serve, or its folder (the starter project)
  --data DIR             keep all data there, and cluster.json (.heddle/cluster)
  --first-address A      address of the first node of Cassandra (127.0.0.1)
  --light                let Cassandra start sooner with less memory, but never get fast
  --no-restart           do not restart a member that died
  --help                 print this text

status prints the members, how many shards each owns, and the epochs of these.
`

/** A cluster to start. */
export interface StartRequest {
  readonly kind: 'start'
  readonly members: number
  readonly cassandra: number
  /** Port of the first member. */
  readonly port: number
  readonly region: string
  /** Regions, one cluster each; empty without --regions. */
  readonly regions: readonly string[]
  /** With several regions: the URL of each, as an option of members. */
  readonly regionUrls: string | undefined
  readonly limits: 'on' | 'off'
  /** Absolute path. */
  readonly config: string
  /** Absolute path. */
  readonly data: string
  readonly firstAddress: string | undefined
  readonly light: boolean
  readonly restart: boolean
}

/** The request of a command line; each `data` is an absolute path. */
export type ClusterRequest =
  | StartRequest
  | { readonly kind: 'status'; readonly data: string }
  | { readonly kind: 'help' }

/** Where a command line comes from. */
export interface RequestSource {
  readonly args: readonly string[]
  /** The base of relative paths. */
  readonly folder: string
  /** The project to serve by default. */
  readonly starter: string
}

const knownOptions = {
  members: { type: 'string', default: '3' },
  cassandra: { type: 'string', default: '3' },
  port: { type: 'string', default: '2024' },
  region: { type: 'string', default: 'us' },
  regions: { type: 'string' },
  limits: { type: 'string' },
  config: { type: 'string' },
  data: { type: 'string', default: '.heddle/cluster' },
  'first-address': { type: 'string' },
  light: { type: 'boolean', default: false },
  'no-restart': { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

/** Reads a command line. Throws an Error with one sentence that says what to do. */
export function requestFrom({ args, folder, starter }: RequestSource): ClusterRequest {
  const { values, positionals } = typedOptions({ args: [...args], options: knownOptions,
    allowPositionals: true })
  if (values.help) return { kind: 'help' }
  const data = resolve(folder, values.data)
  const [verb, ...more] = positionals
  if (verb === 'status' && more.length === 0) return { kind: 'status', data }
  if (verb !== undefined) {
    throw new Error(`There is no command "${positionals.join(' ')}": use "status", or none to ` +
      'start a cluster; see --help.')
  }
  const members = wholeNumber('members', values.members, 1, 64)
  const config = values.config === undefined ? starter : resolve(folder, values.config)
  requireProject(config)
  if (!/^[a-z][a-z0-9_-]*$/i.test(values.region)) {
    throw new Error(`--region is a name like us or eu-west, not "${values.region}".`)
  }
  const regions = regionsIn(values.regions)
  const { limits = regions.length > 0 ? 'on' : 'off' } = values
  if (limits !== 'on' && limits !== 'off') {
    throw new Error(`--limits is on or off, not "${limits}".`)
  }
  return {
    kind: 'start',
    limits,
    members,
    config,
    data,
    light: values.light,
    region: values.region,
    regions,
    regionUrls: undefined,
    cassandra: wholeNumber('cassandra', values.cassandra, 1, 64),
    port: wholeNumber('port', values.port, 1, 65_536 - members * Math.max(1, regions.length)),
    firstAddress: values['first-address'],
    restart: !values['no-restart'],
  }
}

function regionsIn(text: string | undefined): readonly string[] {
  if (text === undefined) return []
  const named = [...new Set(text.split(',').map((name) => name.trim()))]
  const incompatible = named.find((name) => !regionNames.some((known) => known === name))
  if (incompatible === undefined) return named
  throw new Error(`--regions must list some of ${regionNames.join(', ')}, not "${incompatible}".`)
}

/** Checked here, because the first member would check it only after Cassandra has started. */
function requireProject(config: string): void {
  if (!existsSync(config)) {
    throw new Error(`There is no ${config}: name a langgraph.json, or its folder, with --config.`)
  }
  if (statSync(config).isDirectory() && !existsSync(join(config, 'langgraph.json'))) {
    throw new Error(`There is no langgraph.json in ${config}: name one with --config.`)
  }
}

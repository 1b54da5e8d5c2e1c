/** The parts that the tests run in. */

import { globSync } from 'node:fs'
import { resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')

/** Tests that run one after another in a night. */
export interface NightlyPart {
  readonly name: string
  /** Projects of vitest. */
  readonly projects: readonly string[]
  /** Beginnings of the paths that it runs; all of its projects by default. */
  readonly paths?: readonly string[]
  /** Files that run at once, if not two. */
  readonly filesAtOnce?: number
  /** Nodes of the Cassandra that its files share, if not one. */
  readonly cassandraNodes?: number
}

/**
 * As many files at once as keep two cores busy where tests wait for servers, browsers and packages:
 * with two, a seventh of the cores is idle.
 */
export const filesThatWait = 3

/** Projects of vitest that `npm test` runs. */
export const suite: readonly string[] = ['suite', 'conformance', 'unit', 'validation']

/** By the option of `test.mjs` that chooses them: projects of vitest. */
export const projectsOf: Readonly<Record<string, readonly string[]>> = {
  long: ['long', 'browser', 'tracing', 'cassandra', 'newest'],
  studio: ['studio'],
  cluster: ['cluster'],
  fuzz: ['suite'],
}

const deployments = ['test/e2e/deploy/', 'test/e2e/deploy.', 'test/e2e/remote-build',
  'test/e2e/package-manager', 'test/e2e/build.']
const inCluster = ['test/e2e/deployments-cluster']
const killed = ['test/e2e/cassandra/crash', 'test/e2e/cassandra/restored']
const onCassandra = filesLike('test/e2e/cassandra/*.{long,night}.ts')
  .filter((path) => !killed.some((start) => path.startsWith(start)))
const tables = ['test/contract/']
const members = ['test/e2e/cassandra-command', 'test/e2e/cluster-', 'test/e2e/version-before']
/** Timed, with as many processes as the machine bears: nothing runs beside them. */
const alone = ['test/e2e/undisturbed']

/** Timed, too: one after another. */
const attacks = ['test/e2e/attacks', 'test/e2e/burst']
const backups = ['test/e2e/backup']
const kills = ['test/e2e/crash', 'test/e2e/commands', 'test/e2e/crons', 'test/e2e/injected',
  'test/simulation', 'test/conformance/platform']
const ofThree = ['test/e2e/cluster/cluster', 'test/e2e/cluster/history', 'test/e2e/cluster/studio',
  'test/e2e/cluster/rotation', 'test/e2e/cluster/whole']
const otherClusters = filesLike('test/e2e/cluster/*.{long,night,test}.ts')
  .filter((path) => !ofThree.some((start) => path.startsWith(start)))
/** Searches and processes of units, and walks through the Studio. */
const unitsAndScreens = ['test/unit/', 'test/studio/']
const elsewhere = [...deployments, ...inCluster, ...onCassandra, ...killed, ...tables, ...members,
  ...alone, ...attacks, ...backups, ...kills]

const folders = 'a2a,clients,conformance,e2e,mcp,simulation'
/** Long tests that no other part has. */
const rest = filesLike(`test/{${folders}}/**/*.{long,night}.ts`)
  .filter((
    path,
  ) => !path.startsWith('test/e2e/cluster/') && !elsewhere.some((start) => path.startsWith(start)))

const platform =
  'chart,cost,dataset,experiment,playground,prompt,queue,rule,run-experiment,share,trace'
const screensOfPlatform = filesLike(`test/studio/{${platform}}*.test.ts`)
const otherScreens = filesLike('test/studio/*.test.ts')
  .filter((path) => !screensOfPlatform.includes(path))

/** The parts of a night in their order, which together have everything. */
export const nightlyParts: readonly NightlyPart[] = [
  { name: 'units', projects: ['unit', 'validation'] },
  { name: 'suite', projects: ['suite'] },
  { name: 'conformance', projects: ['conformance', 'newest'] },
  { name: 'conformance-cassandra', projects: ['cassandra'], cassandraNodes: 3 },
  { name: 'clients', projects: ['browser', 'tracing'], filesAtOnce: filesThatWait },
  { name: 'deployments', projects: ['long'], paths: deployments, filesAtOnce: filesThatWait },
  { name: 'deployments-cluster', projects: ['long'], paths: inCluster },
  { name: 'cassandra', projects: ['long'], paths: onCassandra, filesAtOnce: filesThatWait },
  { name: 'cassandra-killed', projects: ['long'], paths: killed },
  { name: 'tables', projects: ['long'], paths: tables, cassandraNodes: 3 },
  { name: 'members', projects: ['long'], paths: members },
  { name: 'lost-nodes', projects: ['long'], paths: alone },
  { name: 'attacks', projects: ['long'], paths: attacks, filesAtOnce: 1 },
  { name: 'backups', projects: ['long'], paths: backups, filesAtOnce: filesThatWait },
  { name: 'kills', projects: ['long'], paths: kills, filesAtOnce: filesThatWait },
  { name: 'units-and-screens', projects: ['long'], paths: unitsAndScreens,
    filesAtOnce: filesThatWait },
  { name: 'rest', projects: ['long'], paths: rest, filesAtOnce: filesThatWait },
  { name: 'studio', projects: ['studio'], paths: otherScreens, filesAtOnce: filesThatWait },
  { name: 'studio-platform', projects: ['studio'], paths: screensOfPlatform,
    filesAtOnce: filesThatWait },
  { name: 'cluster', projects: ['cluster'], paths: ofThree },
  { name: 'regions', projects: ['cluster'], paths: otherClusters },
]

/** Paths below the root that a pattern matches, as they are written here. */
function filesLike(pattern: string): readonly string[] {
  return globSync(pattern, { cwd: root }).map((path) => path.replaceAll('\\', '/'))
}

/** The benchmark: the server on one of its stores, or several as a cluster, in rounds. */

import { writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'

import { startCassandra } from '../../scripts/cassandra/cluster.ts'
import { orExit, typedOptions } from '../../scripts/typed-options.ts'
import { benchAgainst } from './against.ts'
import { benchApp } from './app-routes.ts'
import { benchBursts } from './bursts.ts'
import { benchCassandra } from './cassandra.ts'
import type { CassandraBench } from './cassandra.ts'
import { benchCassandraAgainst } from './cassandra-against.ts'
import { benchCalls, benchCluster, benchClusterBursts } from './cluster.ts'
import { benchDeployments } from './deployments.ts'
import { benchEffects } from './effects.ts'
import { benchEmbedded, benchLimits } from './embedded.ts'
import { benchGraphHosts } from './graph-hosts.ts'
import { benchItems } from './items.ts'
import { benchLogin } from './login.ts'
import { benchPlatform } from './platform.ts'
import { progress } from './progress.ts'
import { benchProtocol } from './protocol.ts'
import { machineText, tableOf } from './report.ts'
import type { Bench } from './report.ts'
import { benchReplays } from './replays.ts'
import { benchTakeOver } from './take-over.ts'
import { benchTools } from './tools.ts'
import { benchTracesAgainst } from './traces-against.ts'

const help = `Usage: npm run bench -- [options]

Measures this server beside the bare engine, driver or socket, and writes test/bench/RESULTS*.md.

  --store <kind>              embedded (2 minutes) or cassandra (8 minutes)
  --limits                    what rate limits cost, alone; nothing is written down
  --bursts                    bursts of runs that compute, alone; nothing is written down.
                              With --cluster, through three members
  --protocol                  protocol v2: first events, many readers, streams that rest
  --items                     what items of the store cost, alone; nothing is written down
  --graphs                    graphs in a process beside threads, alone; nothing is written down
  --app                       a route of a project's app beside the app alone; nothing is written
                              down
  --effects                   what calls that happen once and recordings add to runs, alone; nothing
                              is written down
  --replays                   200 replays, and what another caller waits beside them, alone; nothing
                              is written down
  --tools                     calls of tools of MCP beside runs, alone; nothing is written down
  --login                     what the login of a project adds to a read, alone; nothing is written
                              down
  --deployments               deploys, rollbacks and runs of a deployment (5 minutes)
  --platform                  traces, on either store (15 minutes)
  --cluster                   three members on Cassandra (12 minutes)
  --calls                     calls of Cassandra for each request, of one member on one node, and
                              what runs leave in its memory (6 minutes)
  --take-over                 a member that is killed with 20 000 busy threads, or with 100 runs
                              in progress, on one node, alone;
                              with --against, beside that commit; nothing is written down
  --against <commit>          this server beside that of a commit, in turns (10 minutes); nothing is
                              written down. With --platform, what traces cost; with --store
                              cassandra, on one node, beside a data directory, too
  --contact-points <a,b,c>    a Cassandra that runs; three nodes are started where none is named
  --local-datacenter <name>   of that Cassandra (default: us)
  --peer <url>                another server of this API, which serves the conformance project
  --quick                     small numbers, to see that it works; nothing is written down
  -h, --help                  this text`

const { values: options } = orExit(() =>
  typedOptions({ options: {
    store: { type: 'string', default: 'embedded' },
    /** Several members on Cassandra. */
    cluster: { type: 'boolean', default: false },
    /** Only calls of Cassandra for each request. */
    calls: { type: 'boolean', default: false },
    /** Only a take-over; the results are not saved. */
    'take-over': { type: 'boolean', default: false },
    /** Only the cost of limits; the results are not saved. */
    limits: { type: 'boolean', default: false },
    /** Only bursts of runs; the results are not saved. */
    bursts: { type: 'boolean', default: false },
    /** Only protocol v2. */
    protocol: { type: 'boolean', default: false },
    /** Only traces. */
    platform: { type: 'boolean', default: false },
    /** Only the cost of items of long-term memory; the results are not saved. */
    items: { type: 'boolean', default: false },
    /** Only what graphs in a process of their own cost; the results are not saved. */
    graphs: { type: 'boolean', default: false },
    /** Only what the server adds to a route of an app; the results are not saved. */
    app: { type: 'boolean', default: false },
    /** Only what a login costs; the results are not saved. */
    login: { type: 'boolean', default: false },
    /** Only calls of tools; the results are not saved. */
    tools: { type: 'boolean', default: false },
    /** Only what effects and recordings cost; the results are not saved. */
    effects: { type: 'boolean', default: false },
    /** Only replays of recorded runs; the results are not saved. */
    replays: { type: 'boolean', default: false },
    /** Deployments on one server. */
    deployments: { type: 'boolean', default: false },
    /** A commit of this repository's history. */
    against: { type: 'string' },
    /** Any other server of this API that serves test/support/projects/conformance. */
    peer: { type: 'string' },
    /** Nodes of a running Cassandra: a,b,c; by default three are started. */
    'contact-points': { type: 'string' },
    'local-datacenter': { type: 'string', default: 'us' },
    /** A smoke test: small numbers, and the results are not saved. */
    quick: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  } })
)
if (options.help) {
  console.log(help)
  process.exit()
}
const { store, peer, quick, against: commit } = options
const isBeside = commit !== undefined && !options['take-over']
const isOnOneNode = options.calls || options['take-over'] ||
  (isBeside && store === 'cassandra' && !options.platform)
if (store !== 'embedded' && store !== 'cassandra') {
  console.error(`--store is embedded or cassandra, not "${store}".`)
  process.exit(2)
}

const began = new Date()
const loadAtStart = loadavg()[0]!
const { title, lines, notes, file } = await measured()
const report = [
  `# ${title}`,
  '',
  machineText(began, loadAtStart),
  '',
  tableOf(lines),
  '',
  notes,
].join('\n')
console.log(`\n${report}`)
const isPart = options.limits || options.items || options.graphs || options.bursts ||
  options.app || options.tools || options.effects || options.replays || options.login ||
  options['take-over'] || commit !== undefined
if (!quick && !isPart)
  writeFileSync(join(import.meta.dirname, file), `${report}\n`)

async function measured(): Promise<Bench> {
  if (isBeside && !isOnOneNode) {
    const bench = options.platform ? benchTracesAgainst : benchAgainst
    return await bench({ commit, quick })
  }
  if (options.limits) return await benchLimits({ quick })
  if (options.bursts && !options.cluster) return await benchBursts({ quick })
  if (options.protocol) return await benchProtocol({ quick })
  if (options.deployments) return await benchDeployments({ quick })
  if (options.graphs) return await benchGraphHosts({ quick })
  if (options.app) return await benchApp({ quick })
  if (options.login) return await benchLogin({ quick })
  if (options.effects) return await benchEffects({ quick })
  if (options.replays) return await benchReplays({ quick })
  if (options.tools) return await benchTools({ quick })
  if (options.items) return await benchItems({ quick })
  if (options.platform)
    return await benchPlatform({ quick, store: store as 'embedded' | 'cassandra' })
  if (store === 'embedded' && !options.cluster && !isOnOneNode) {
    return await benchEmbedded({ peer, quick })
  }
  const ofCluster = options.bursts ? benchClusterBursts : benchCluster
  const ofOneNode = options.calls ? benchCalls : (given: CassandraBench) =>
    isBeside
      ? benchCassandraAgainst({ ...given, commit })
      : benchTakeOver({ ...given, commit })
  const bench = isOnOneNode ? ofOneNode : options.cluster ? ofCluster : benchCassandra
  const contactPoints = options['contact-points']?.split(',')
  if (contactPoints !== undefined) {
    const cassandra = { contactPoints, dataCenter: options['local-datacenter'] }
    return await bench({ quick, cassandra, own: false })
  }
  const firstAddress = options.cluster ? '127.0.0.81' : '127.0.0.71'
  const cassandra = await startCassandra({ nodes: isOnOneNode ? 1 : 3, light: quick, firstAddress,
    log: progress })
  try {
    return await bench({ quick, cassandra, own: true })
  } finally {
    await cassandra.close()
  }
}

/** The benchmark: the server on one of its stores, or several as a cluster, in rounds. */

import { writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { benchCassandra } from './cassandra.ts'
import { benchCluster } from './cluster.ts'
import { benchEmbedded } from './embedded.ts'
import { machineText, tableOf } from './report.ts'
import type { Bench } from './report.ts'

const { values: options } = parseArgs({ options: {
  store: { type: 'string', default: 'embedded' },
  /** Several members on Cassandra. */
  cluster: { type: 'boolean', default: false },
  /** Any other server of this API that serves test/support/projects/conformance. */
  peer: { type: 'string' },
  /** Nodes of a Cassandra that runs: a,b,c; three are started where none is named. */
  'contact-points': { type: 'string' },
  'local-datacenter': { type: 'string', default: 'us' },
  /** A smoke test: small numbers, nothing is written down. */
  quick: { type: 'boolean', default: false },
} })
const { store, peer, quick } = options
if (store !== 'embedded' && store !== 'cassandra') {
  throw new Error('--store is embedded or cassandra')
}

const began = new Date()
const loadAtStart = loadavg()[0]!
const { title, lines, notes, file } = await measured()
const report = [
  `# ${title}`, '', machineText(began, loadAtStart), '', tableOf(lines), '', notes].join('\n')
console.log(`\n${report}`)
if (!quick) writeFileSync(join(import.meta.dirname, file), `${report}\n`)

function measured(): Promise<Bench> {
  const cassandra = { quick, contactPoints: options['contact-points']?.split(','),
    dataCenter: options['local-datacenter'] }
  if (options.cluster) return benchCluster(cassandra)
  return store === 'embedded' ? benchEmbedded({ peer, quick }) : benchCassandra(cassandra)
}

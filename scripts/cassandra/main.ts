/** The command `npm run cassandra`: runs Cassandra nodes on this machine until it is stopped. */

import { typedOptions, wholeNumber } from '../typed-options.ts'
import { startCassandra } from './cluster.ts'
import type { Cassandra } from './cluster.ts'
import { stopRequests } from './stopping.ts'

const help = `Usage: npm run cassandra -- [--nodes 3] [option…]

Runs a cluster of Apache Cassandra on this machine until it is stopped (Ctrl-C).
It needs Java 17, and the first time Maven, to fetch Cassandra.

  --nodes N              how many nodes (3)
  --data DIR             keep the data there (by default it is removed at the end)
  --first-address A      address of the first node; the others have the next ones (127.0.0.1)
  --light                start sooner and take less memory, but never get fast
  --passwords            require a user and a password of clients (cassandra, cassandra)
  --json                 print one line of JSON when the cluster is ready, for programs
  --help                 print this text
`

try {
  await main()
} catch (error) {
  console.error((error as Error).message)
  process.exit(1)
}

async function main(): Promise<void> {
  const { values } = typedOptions({
    options: {
      nodes: { type: 'string', default: '3' },
      data: { type: 'string' },
      'first-address': { type: 'string' },
      light: { type: 'boolean' },
      passwords: { type: 'boolean' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean' },
    },
  })
  if (values.help) return void console.log(help)
  // If it is stopped while the nodes still start, they end with this process.
  const { first: stopped } = stopRequests('cassandra')
  const cluster = await Promise.race([stopped, startCassandra({
    nodes: wholeNumber('nodes', values.nodes, 1, 64),
    directory: values.data,
    firstAddress: values['first-address'],
    light: values.light,
    passwords: values.passwords,
    log: (line) => console.error(line),
  })])
  if (cluster === undefined) process.exit(0)
  announce(cluster, values)
  await stopped
  if (!values.json) console.log('Stopping …')
  await cluster.close()
  process.exit(0)
}

function announce({ contactPoints, dataCenter, nodes }: Cassandra, { json, data }: {
  readonly json: boolean
  readonly data?: string
}): void {
  const points = contactPoints.join(',')
  if (json) {
    const pids = nodes.map(({ pid }) => pid)
    return void console.log(JSON.stringify({ contactPoints, dataCenter, pids }))
  }
  const fate = data ? `is in ${data}` : 'is removed at the end (--data DIR keeps it)'
  console.log(`
Cassandra is ready: ${nodes.length === 1 ? 'one node' : `${nodes.length} nodes`} at ${points}.
Its data ${fate}. Ctrl-C stops it.

Serve on it:

  npm start -- --store cassandra --contact-points ${points} --local-datacenter ${dataCenter}
`)
}

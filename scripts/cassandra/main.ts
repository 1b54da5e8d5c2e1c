/** The command `npm run cassandra`: real Cassandra nodes on this machine until it is stopped. */

import { typedOptions, wholeNumber } from '../typed-options.ts'
import { startCassandra } from './cluster.ts'
import type { Cassandra } from './cluster.ts'
import { stopRequests } from './stopping.ts'

const help = `Usage: npm run cassandra -- [--nodes 3] [option…]

Starts a cluster of Apache Cassandra on this machine and stops it with itself (Ctrl-C).
It needs Java 17, and Maven the first time, when Cassandra is fetched.

  --nodes N              how many (3)
  --data DIR             keeps the data there (otherwise it goes when the nodes stop)
  --first-address A      of the first node; the others have the next ones (127.0.0.1)
  --light                starts sooner and takes less memory, but never gets fast
  --passwords            asks clients for a user and a password (cassandra, cassandra)
  --json                 says that the cluster is ready by one line of JSON, for programs
  --help                 this text
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
  // Asked to stop while the nodes still start: those end as soon as we are gone.
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
  const fate = data ? `is in ${data}` : 'goes when the nodes stop (--data DIR keeps it)'
  console.log(`
Cassandra is ready: ${nodes.length === 1 ? 'one node' : `${nodes.length} nodes`} at ${points}.
Its data ${fate}. Ctrl-C stops it.

Serve on it:

  npm start -- --store cassandra --contact-points ${points} --local-datacenter ${dataCenter}
`)
}

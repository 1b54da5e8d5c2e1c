/** Real Apache Cassandra on this machine: one call starts a cluster and waits until it is ready. */

import { rmSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join, resolve } from 'node:path'

import { usualDataCenter } from './configuration.ts'
import { placesOf, ports, usualFirstAddress } from './layout.ts'
import { endLeftovers, takeDirectory } from './leftovers.ts'
import { fetchLibrary, whatIsMissing } from './library.ts'
import { NodeProcess } from './node-process.ts'
import { whyNotFree } from './port.ts'
import { untilWhole } from './whole.ts'

/** What cluster to start. */
export interface CassandraOptions {
  readonly nodes: number
  /**
   * Directory of the data; by default a temporary one, which is removed when the cluster is closed.
   */
  readonly directory?: string
  /** Address of the first node, by default 127.0.0.1. The others have the next ones. */
  readonly firstAddress?: string
  /** Name of the data center; by default `us`. */
  readonly dataCenter?: string
  /** Starts sooner and takes less memory, but never gets fast. For tests, not for benchmarks. */
  readonly light?: boolean
  /** True if no node is started again. Then making a table takes a third as long. For tests. */
  readonly fleeting?: boolean
  /** True if clients must give a user and a password (at first `cassandra`, `cassandra`). */
  readonly passwords?: boolean
  /** Called with a line for people. */
  readonly log?: (line: string) => void
}

/** A running cluster. */
export interface Cassandra {
  readonly contactPoints: readonly string[]
  readonly dataCenter: string
  readonly nodes: readonly CassandraNode[]
  /** Resolves when every node is up and knows all others. For use after a node was restarted. */
  whole(): Promise<void>
  /** Ends the nodes. Data in a given directory stays. */
  close(): Promise<void>
}

/** One node of a running cluster. */
export interface CassandraNode {
  readonly address: string
  /** Id of its current process, or otherwise of the last one. */
  readonly pid: number | undefined
  /** Sends a signal. With SIGKILL or SIGTERM, resolves when the process has ended. */
  kill(signal: NodeJS.Signals): Promise<void>
  /** Starts the node again on its data. Resolves when it accepts clients. */
  start(): Promise<void>
}

/**
 * Starts a cluster. Rejects with one sentence that says what to do if this machine cannot run it.
 */
export async function startCassandra(options: CassandraOptions): Promise<Cassandra> {
  const { nodes: count, firstAddress = usualFirstAddress, log = () => undefined } = options
  const { light = false, passwords = false, fleeting = false } = options
  const { dataCenter = usualDataCenter } = options
  const places = placesOf({ nodes: count, firstAddress })
  const missing = await whatIsMissing()
  if (missing !== undefined) throw new Error(missing)
  const library = await fetchLibrary(log)
  const isTemporary = options.directory === undefined
  const directory = resolve(options.directory ?? temporaryDirectory(firstAddress))
  await endLeftovers(directory)
  for (const { address } of places) {
    for (const port of Object.values(ports)) await requireFree(address, port)
  }
  if (isTemporary) rmSync(directory, { recursive: true, force: true })
  const region = dataCenter === usualDataCenter ? '' : ` in ${dataCenter}`
  takeDirectory(directory,
    `${count === 1 ? 'one node' : `${count} nodes`} from ${firstAddress} on${region}`)

  const nodes = places.map((place) =>
    new NodeProcess({ place, seed: firstAddress, light, passwords, fleeting, dataCenter, library,
      log, directory: join(directory, `node-${place.address}`) })
  )
  const contactPoints = places.map(({ address }) => address)
  const whole = () => untilWhole({ contactPoints, dataCenter, passwords, patienceMs: 120_000 })
  const close = async () => {
    if (!isTemporary) return void await Promise.all(nodes.map((node) => node.stop(15_000)))
    await Promise.all(nodes.map((node) => node.kill('SIGKILL')))
    rmSync(directory, { recursive: true, force: true })
  }
  try {
    await startNodes(nodes, log)
    await whole()
  } catch (error) {
    // The files stay, so that the reason can be found in them.
    await Promise.all(nodes.map((node) => node.kill('SIGKILL')))
    throw error
  }
  return { contactPoints, dataCenter, nodes, whole, close }
}

/**
 * The directory is the same for the same addresses, so that leftovers of a killed starter are found
 * again.
 */
function temporaryDirectory(firstAddress: string): string {
  return join(tmpdir(), `heddle-cassandra-${userInfo().username}-${firstAddress}`)
}

/** Starts the first node alone until the others can ask it for the ring, then all others. */
async function startNodes(nodes: readonly NodeProcess[], log: (line: string) => void) {
  const started = performance.now()
  const isUp = ({ address }: NodeProcess) =>
    log(`${address} is up (${((performance.now() - started) / 1000).toFixed(1)} s).`)
  const [first, ...others] = nodes
  log(`Starting ${nodes.length === 1 ? 'one node' : `${nodes.length} nodes`} …`)
  await first!.start(ports.storage)
  await Promise.all([
    first!.accepts(ports.client).then(() => isUp(first!)),
    ...others.map((node) => node.start().then(() => isUp(node))),
  ])
}

async function requireFree(address: string, port: number): Promise<void> {
  const problem = await whyNotFree(address, port)
  if (problem === undefined) return
  throw new Error(problem === 'EADDRNOTAVAIL'
    ? `This machine does not answer at ${address}: give it that address first (macOS: sudo` +
      ` ifconfig lo0 alias ${address}), or start fewer nodes.`
    : `${address}:${port} is taken (${problem}): stop what runs there, or name another block of` +
      ' addresses with --first-address 127.0.0.11.')
}

/** A whole cluster on one machine: Cassandra nodes and members, each a process. */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { startCassandra } from '../cassandra/cluster.ts'
import type { Cassandra } from '../cassandra/cluster.ts'
import { whyNotFree } from '../cassandra/port.ts'
import { serverProgram } from '../server-program.ts'
import { removeDescription, writeDescription } from './description.ts'
import type { ClusterDescription, MemberDescription } from './description.ts'
import { MemberProcess } from './member-process.ts'
import type { StartRequest } from './options.ts'
import { Supervisor } from './supervisor.ts'

/** A running cluster. */
export interface Box {
  /** What runs now, as in cluster.json. */
  readonly description: ClusterDescription
  /** Drains and ends the members, and then Cassandra. The data stays. */
  close(): Promise<void>
}

const host = '127.0.0.1'

/**
 * Starts a cluster. Rejects with one sentence that says what to do, and then leaves nothing
 * running.
 */
export async function startBox(request: StartRequest, log: (line: string) => void): Promise<Box> {
  await requireFree(request)
  mkdirSync(request.data, { recursive: true })
  removeDescription(request.data)
  log(`Cassandra, ${plural(request.cassandra, 'node')}:`)
  const cassandra = await startCassandra({
    nodes: request.cassandra,
    firstAddress: request.firstAddress,
    dataCenter: request.region,
    light: request.light,
    directory: join(request.data, 'cassandra'),
    log,
  })
  const members: (MemberDescription | undefined)[] = []
  let ready = false
  const describe = () => describeBox(cassandra, members)
  const supervisors = Array.from({ length: request.members }, (_, index) =>
    new Supervisor({
      name: `Member ${index + 1}`,
      restart: request.restart,
      log,
      process: memberProcess(request, cassandra, index),
      changed: (member) => {
        members[index] = member
        if (ready) writeDescription(request.data, describe())
      },
    }))
  try {
    await startMembers(supervisors, log)
  } catch (error) {
    await end(supervisors, cassandra)
    throw error
  }
  ready = true
  writeDescription(request.data, describe())
  return {
    get description() {
      return describe()
    },
    close: async () => {
      ready = false
      await end(supervisors, cassandra, log)
      removeDescription(request.data)
    },
  }
}

function memberProcess({ config, data, port, limits, region, regionUrls }: StartRequest,
  { contactPoints, dataCenter }: Cassandra, index: number): MemberProcess {
  const directory = join(data, `member-${index + 1}`)
  return new MemberProcess({ directory, command: [
    serverProgram,
    '--config',
    config,
    '--data',
    directory,
    '--port',
    `${port + index}`,
    '--store',
    'cassandra',
    '--contact-points',
    contactPoints.join(','),
    '--local-datacenter',
    dataCenter,
    '--member-host',
    host,
    '--member-port',
    '0',
    '--limits',
    limits,
    ...regionUrls === undefined
      ? []
      : ['--region', region, '--region-url', regionUrls, '--auth', 'keys', '--billing',
        region === 'us' ? 'on' : 'off'],
  ] })
}

/** Starts the first member alone, since it creates the tables. */
async function startMembers([first, ...others]: readonly Supervisor[],
  log: (line: string) => void): Promise<void> {
  log(`Members, ${others.length + 1}:`)
  const started = performance.now()
  const serves = (count: string) =>
    log(`${count} (${((performance.now() - started) / 1_000).toFixed(1)} s).`)
  await first!.start()
  serves('Member 1 serves')
  if (others.length === 0) return
  await Promise.all(others.map((other) => other.start()))
  serves('All serve')
}

/** Ends the members first: they need Cassandra to give back their shards. */
async function end(supervisors: readonly Supervisor[], cassandra: Cassandra,
  log: (line: string) => void = () => undefined): Promise<void> {
  log('Ending the members …')
  await Promise.all(supervisors.map((supervisor) => supervisor.end()))
  log('Ending Cassandra …')
  await cassandra.close()
}

function describeBox({ nodes }: Cassandra,
  members: readonly (MemberDescription | undefined)[]): ClusterDescription {
  const serving = members.filter((member) => member !== undefined)
  return {
    frontDoors: serving.map(({ http }) => http),
    members: serving,
    cassandra: nodes.map(({ pid, address }) => ({ pid: pid!, address })),
  }
}

async function requireFree({ port, members }: StartRequest): Promise<void> {
  for (let index = 0; index < members; index += 1) {
    const problem = await whyNotFree(host, port + index)
    if (problem === undefined) continue
    throw new Error(problem === 'EACCES'
      ? `Port ${port + index} needs rights that this user has not: choose one above 1023 by --port.`
      : `Port ${port + index} is taken, and members need ${port} to ${port + members - 1}: stop ` +
        'what listens there, or choose others with --port.')
  }
}

const plural = (count: number, noun: string) => count === 1 ? `one ${noun}` : `${count} ${noun}s`

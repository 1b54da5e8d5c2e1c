/** Several members as real processes on one keyspace, each with a front door. */

import type { CassandraKeyspace } from './cassandra-keyspace.ts'
import { makeNetwork } from './roads.ts'
import type { Roads } from './roads.ts'
import { startServer } from './server-process.ts'
import type { Exit, Restart, ServerProcess } from './server-process.ts'
import { storyOf } from './story.ts'

/** What cluster to start. */
export interface ClusterOptions {
  readonly members: number
  readonly cassandra: CassandraKeyspace
  /** A folder of test/support/projects. */
  readonly project: string
  /** True if connections go through proxies, so that members can be cut off. */
  readonly roads?: boolean
  readonly env?: Readonly<Record<string, string>>
  /** A checkout of this repository, whose source runs; by default the bundle of this one. */
  readonly program?: string
  /** Data folder of each member. By default, each has a temporary one. */
  readonly dataDirs?: readonly string[]
  /** Further command-line options of every member. */
  readonly args?: readonly string[]
}

/** One member, over all of its starts. */
export interface ClusterMember {
  /** URL of its front door, which stays the same. */
  readonly url: string
  readonly pid: number
  /** Id that others know it by since its last start. */
  readonly session: string
  /** Everything it printed since its first start. */
  output(): string
  /** Sends the signal. Resolves when the process has ended. */
  kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<Exit>
  /** Makes it stand still until it is woken. */
  pause(): void
  wake(): void
  /** Resolves when the process that was started last ends. */
  exited(): Promise<Exit>
  /** Starts again on the same port and data, after its end, from now on with other options. */
  restart(changed?: Restart): Promise<void>
  /** Cuts its connections until `reach` is called. Only with `roads`. */
  cutOff(from: 'cassandra' | 'peers'): void
  reach(): void
}

/** A running cluster. */
export interface Cluster {
  readonly members: readonly ClusterMember[]
  readonly frontDoors: readonly string[]
  /** The last output of each member, to find out what went wrong. */
  story(): string
  close(): Promise<void>
}

/** Resolves when all members serve. */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { project, cassandra, env = {}, args = [], program } = options
  const { contactPoints } = cassandra
  const network = options.roads ? await makeNetwork(options.members, contactPoints) : undefined
  const members: ClusterMember[] = []
  const servers: ServerProcess[] = []
  const start = async (index: number) => {
    const road = network?.roads[index]
    servers[index] = await retryIfFenced(() =>
      startServer({
        project,
        cassandra,
        ...program !== undefined && { program },
        env: { ...env, ...road?.env },
        dataDir: options.dataDirs?.[index],
        args: ['--member-host', '127.0.0.1', ...road?.args ?? [], ...args],
      })
    )
    members[index] = memberOf(servers[index], road)
  }
  const close = async () => {
    await Promise.all(servers.map((server) => server.close()))
    await network?.close()
  }
  try {
    // The first one creates the tables.
    await start(0)
    const others = await Promise.allSettled(
      Array.from({ length: options.members - 1 }, (_, index) => start(index + 1)),
    )
    const failed = others.find(({ status }) => status === 'rejected')
    // Not before all have started: one that starts later would be left behind.
    if (failed?.status === 'rejected') throw failed.reason
  } catch (error) {
    await close()
    throw error
  }
  return {
    members,
    close,
    frontDoors: members.map(({ url }) => url),
    story: () =>
      members.map((member, index) =>
        `Member ${index} (pid ${member.pid}):\n` +
        storyOf(member.output())
      ).join('\n'),
  }
}

/** On a busy machine, others may fence a member that starts. A supervisor starts it again. */
async function retryIfFenced<Result>(start: () => Promise<Result>): Promise<Result> {
  try {
    return await start()
  } catch (error) {
    if (!(error as Error).message.includes('fenced the session of this one')) throw error
    return await start()
  }
}

function memberOf(server: ServerProcess, road: Roads | undefined): ClusterMember {
  let before = ''
  return {
    url: server.url,
    get pid() {
      return server.pid
    },
    get session() {
      return server.member.session
    },
    output: () => before + server.output(),
    kill: (signal) => server.kill(signal),
    pause: () => void process.kill(server.pid, 'SIGSTOP'),
    wake: () => void process.kill(server.pid, 'SIGCONT'),
    exited: () => server.exited(),
    restart: async (changed) => {
      before += `${server.output()}--- and again:\n`
      await retryIfFenced(() => server.restart(changed))
    },
    cutOff: (from) => road!.cutOff(from),
    reach: () => road!.reach(),
  }
}

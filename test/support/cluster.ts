/** Several members as real processes on one keyspace, each with a front door. */

import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { pathToFileURL } from 'node:url'
import type { CassandraKeyspace } from './cassandra-keyspace.ts'
import { makeCuttingProxy } from './cutting-proxy.ts'
import { detoursVariable } from './detour.ts'
import { startServer } from './server-process.ts'
import type { Exit, ServerProcess } from './server-process.ts'

export interface ClusterOptions {
  readonly members: number
  readonly cassandra: CassandraKeyspace
  /** A folder of test/support/projects. */
  readonly project: string
  /** Whether connections go through proxies, so that members can be cut off. */
  readonly roads?: boolean
  readonly env?: Readonly<Record<string, string>>
  /** Further options of every member, as they are typed. */
  readonly args?: readonly string[]
}

export interface ClusterMember {
  /** Of its front door: the same in every life. */
  readonly url: string
  readonly pid: number
  /** Everything it printed in all its lives. */
  output(): string
  /** Resolves when the process is gone. */
  kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<Exit>
  /** It stands still until it is woken. */
  pause(): void
  wake(): void
  /** Resolves when the process ends that was started last. */
  exited(): Promise<Exit>
  /** Starts again on the same port and data, after its end. */
  restart(): Promise<void>
  /** Nothing passes between it and those until it is reached again. Only with `roads`. */
  cutOff(from: 'cassandra' | 'peers'): void
  reach(): void
}

export interface Cluster {
  readonly members: readonly ClusterMember[]
  readonly frontDoors: readonly string[]
  /** The last that each member said, for somebody who must find out what went wrong. */
  story(): string
  close(): Promise<void>
}

/** How much of what a member said is told. */
const storyLength = 6_000

/** Resolves when all members serve. */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { project, cassandra, env = {}, args = [] } = options
  const roads = options.roads ? await makeRoads(options) : []
  const members: ClusterMember[] = []
  const servers: ServerProcess[] = []
  const start = async (place: number) => {
    const road = roads[place]
    servers[place] = await startServer({
      project, cassandra, env: { ...env, ...road?.env },
      args: ['--member-host', '127.0.0.1', ...road?.args ?? [], ...args],
    })
    members[place] = memberOf(servers[place], road)
  }
  const close = async () => {
    await Promise.all(servers.map((server) => server.close()))
    for (const road of roads) road.close()
  }
  try {
    // The first one makes the tables.
    await start(0)
    await Promise.all(Array.from({ length: options.members - 1 }, (_, place) => start(place + 1)))
  } catch (error) {
    await close()
    throw error
  }
  return {
    members, close, frontDoors: members.map(({ url }) => url),
    story: () => members.map((member, place) => `--- member ${place} (pid ${member.pid}):\n` +
      member.output().slice(-storyLength)).join('\n'),
  }
}

function memberOf(server: ServerProcess, road: Roads | undefined): ClusterMember {
  let before = ''
  return {
    url: server.url,
    get pid() { return server.pid },
    output: () => before + server.output(),
    kill: (signal) => server.kill(signal),
    pause: () => void process.kill(server.pid, 'SIGSTOP'),
    wake: () => void process.kill(server.pid, 'SIGCONT'),
    exited: () => server.exited(),
    restart: async () => {
      before += `${server.output()}--- and again:\n`
      await server.restart()
    },
    cutOff: (from) => road!.cutOff(from),
    reach: () => road!.reach(),
  }
}

interface Roads {
  readonly env: Readonly<Record<string, string>>
  readonly args: readonly string[]
  cutOff(from: 'cassandra' | 'peers'): void
  reach(): void
  close(): void
}

/** For each member: a proxy on its way to Cassandra, and one on the way from and to each other. */
async function makeRoads({ members, cassandra }: ClusterOptions): Promise<readonly Roads[]> {
  const ports = await freePorts(members)
  const places = ports.map((_, place) => place)
  const toStore = places.map(makeCuttingProxy)
  const between = places.map(() => places.map(makeCuttingProxy))
  return Promise.all(places.map(async (place): Promise<Roads> => {
    const others = places.filter((other) => other !== place)
    const detours = await Promise.all([
      ...cassandra.contactPoints.map((point) =>
        detour(toStore[place]!, point.includes(':') ? point : `${point}:9042`)),
      ...others.map((other) => detour(between[place]![other]!, `127.0.0.1:${ports[other]}`)),
    ])
    const peers = others.flatMap((other) => [between[place]![other]!, between[other]![place]!])
    const all = [toStore[place]!, ...peers]
    return {
      args: ['--member-port', `${ports[place]}`],
      env: {
        [detoursVariable]: JSON.stringify(Object.fromEntries(detours)),
        NODE_OPTIONS: `--import=${pathToFileURL(`${import.meta.dirname}/detour.ts`).href}`,
      },
      cutOff: (from) => {
        for (const proxy of from === 'peers' ? peers : [toStore[place]!]) proxy.hold()
      },
      reach: () => { for (const proxy of all) proxy.release() },
      close: () => { for (const proxy of all) proxy.close() },
    }
  }))
}

async function detour(proxy: ReturnType<typeof makeCuttingProxy>, meant: string):
  Promise<[string, string]> {
  return [meant, new URL(await proxy.to(`http://${meant}`)).host]
}

/** Free a moment ago; all different. */
async function freePorts(count: number): Promise<number[]> {
  const probes = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(probes.map((probe) => once(probe, 'listening')))
  const ports = probes.map((probe) => (probe.address() as AddressInfo).port)
  await Promise.all(probes.map((probe) => new Promise((closed) => probe.close(closed))))
  return ports
}

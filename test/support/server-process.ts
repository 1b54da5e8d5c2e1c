/** The real server as a child process: started, watched, killed and restarted. */

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { CassandraKeyspace } from './cassandra-keyspace.ts'
import { serverProgram } from '../../scripts/server-program.ts'
import { memoryLimit } from './memory-limit.ts'
import { projectsFolder } from './newest-packages.ts'
import { firstFreePort } from './port.ts'

/** Time in which a server whose connections break has ended. */
const endMs = 5_000
const root = resolve(import.meta.dirname, '../..')

/** What server to start. */
export interface ServerOptions {
  /** A folder of test/support/projects, or any absolute path; by default the starter. */
  readonly project?: string
  /** Data folder, kept if given. Otherwise one is created for this server and removed with it. */
  readonly dataDir?: string
  readonly env?: Readonly<Record<string, string>>
  /** Where threads are kept instead of the data folder. */
  readonly cassandra?: CassandraKeyspace
  /** Another checkout of this repository, whose program runs; by default this one. */
  readonly program?: string
  /** True to choose no port: the server takes the usual one, or the next that is free. */
  readonly anyPort?: boolean
  /** Further command-line options. */
  readonly args?: readonly string[]
  /** KiB that its files may have, to simulate a full disk. */
  readonly fileKiB?: number
  /** User and group of the server; by default the user of the test. */
  readonly user?: number
  /** Bytes of memory above which it is killed. */
  readonly memoryBytes?: number
  /** Called with the whole output so far, whenever there is more. */
  readonly received?: (output: string) => void
}

/** For a server that starts often and executes little: each worker loads the engine. */
export const oneWorker: readonly string[] = ['--workers', '1']

/** Options that a restart changes. By default, all stay as they are. */
export type Restart = Pick<ServerOptions, 'program'>

/** How a process ended. */
export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A member as it describes itself when it starts. */
export interface MemberSeen {
  readonly session: string
  readonly host: string
  readonly port: string
}

/** A server that a test may kill. */
export interface ServerProcess {
  readonly url: string
  readonly pid: number
  readonly dataDir: string
  /**
   * Where other members know it since its last start. Throws if it is not a member of a cluster.
   */
  readonly member: MemberSeen
  /** Everything it printed since it was last started. */
  output(): string
  /** Resolves when the process that was started last has ended. */
  exited(): Promise<Exit>
  /** Sends the signal. Resolves when the process has ended. */
  kill(signal: NodeJS.Signals): Promise<Exit>
  /** Starts again on the same port and data, after a kill, from now on with other options. */
  restart(changed?: Restart): Promise<void>
  /** Ends the process and removes the data created for it. */
  close(): Promise<void>
}

function memberIn(output: string): MemberSeen {
  // An earlier version prints lines for people.
  const seen = /(?:^ {2}member +|"member":")(?<session>\S+) at (?<host>[^"\s]+):(?<port>\d+)"?/m
    .exec(output)
  return seen!.groups as unknown as MemberSeen
}

/**
 * Starts a server. Resolves when it has printed its URL and answers. Rejects with what it printed.
 */
export async function startServer(options: ServerOptions = {}): Promise<ServerProcess> {
  const dataDir = options.dataDir ?? await mkdtemp(join(tmpdir(), 'heddle-test-'))
  const forget = async () => {
    if (options.dataDir !== undefined) return
    // Processes of its deployments end a moment after it, and may write until then.
    await rm(dataDir, { recursive: true, force: true, maxRetries: 10 })
  }
  // A port from the system could belong to another process by the time of a restart.
  const port = String(await firstFreePort())
  let last = options
  let current = await launch(options, dataDir, port).catch(async (error: unknown) => {
    await forget()
    throw error
  })
  const kill = async (signal: NodeJS.Signals) => {
    current.child.kill(signal)
    return current.exit
  }
  return {
    url: current.url,
    get pid() {
      return current.child.pid!
    },
    dataDir,
    get member() {
      return memberIn(current.output())
    },
    output: () => current.output(),
    exited: () => current.exit,
    kill,
    async restart(changed = {}) {
      last = { ...last, ...changed }
      current = await launch(last, dataDir, port)
    },
    async close() {
      await kill('SIGKILL')
      await forget()
    },
  }
}

/**
 * Starts a server that should refuse. Resolves with how it ended (killed if it serves) and what it
 * printed.
 */
export async function failToStart(
  options: ServerOptions & { readonly dataDir: string; readonly port?: string },
): Promise<Exit & { readonly output: string }> {
  const started = run(options, options.dataDir, options.port ?? '0')
  void started.url.then(() => started.child.kill('SIGKILL'))
  return { ...await started.exit, output: started.output() }
}

async function launch(options: ServerOptions, dataDir: string, port: string) {
  const started = run(options, dataDir, port)
  const ended = started.exit.then((exit): never => {
    throw new Error(`the server ended with ${JSON.stringify(exit)}:\n${started.output()}`)
  })
  const url = await Promise.race([started.url, ended])
  const answer = await fetch(`${url}/ok`).catch(async (error: unknown) => {
    // The connection of a server that ends breaks: its output has the reason.
    await Promise.race([ended, pause(endMs)])
    throw error
  })
  if (!answer.ok) throw new Error(`GET /ok answered ${answer.status}:\n${started.output()}`)
  return { ...started, url }
}

function storeArgs(cassandra: CassandraKeyspace | undefined): string[] {
  if (cassandra === undefined) return []
  const { contactPoints, dataCenter, keyspace } = cassandra
  return ['--store', 'cassandra', '--contact-points', contactPoints.join(','), '--local-datacenter',
    dataCenter, '--keyspace', keyspace]
}

const children = new Set<ChildProcess>()
process.once('exit', () => children.forEach((child) => child.kill('SIGKILL')))

function run(options: ServerOptions, dataDir: string, port: string) {
  const config = options.project === undefined
    ? []
    : ['--config', resolve(projectsFolder(), options.project, 'langgraph.json')]
  // An earlier version may have no bundle.
  const { program: home } = options
  const main = home === undefined ? serverProgram : join(home, 'src/main.ts')
  const command = [process.execPath, main, ...config, '--data', dataDir,
    ...options.anyPort === true ? [] : ['--port', port], ...storeArgs(options.cassandra),
    ...options.args ?? []]
  const memory = options.memoryBytes === undefined ? undefined : memoryLimit(options.memoryBytes)
  const [program, ...args] = [...memory?.prefix ?? [], ...options.fileKiB === undefined
    ? []
    : ['bash', '-c', `ulimit -f ${options.fileKiB} && exec "$0" "$@"`], ...command]
  const child = spawn(program!, args, { cwd: home ?? root, env: { ...process.env, ...options.env },
    ...options.user !== undefined && { uid: options.user, gid: options.user },
    stdio: ['ignore', 'pipe', 'pipe'] })
  children.add(child)
  if (child.pid !== undefined) memory?.watch(child.pid)
  let output = ''
  const url = new Promise<string>((found) => {
    const hear = (chunk: Buffer) => {
      output += chunk.toString()
      options.received?.(output)
      const match = /http:\/\/[\w.[\]:-]+:\d+/.exec(output)
      if (match !== null) found(match[0])
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
  })
  const exit = once(child, 'close').then(([code, signal]): Exit => {
    children.delete(child)
    memory?.remove()
    return { code, signal }
  })
  return { child, url, exit, output: () => output }
}

/** Types of a project's TypeScript sources for its graphs, read once in a process of its own. */

import { fork } from 'node:child_process'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'

import type { Env } from '../../../cluster/index.ts'
import { asUser } from '../process-user.ts'
import type { CompiledProject } from '../project/project-compiler.ts'
import type { FileTimes } from '../file-times.ts'
import { changedMs } from '../file-times.ts'
import type { TypedNode, TypedSchemas } from './graph-types.ts'
import type { TypesRead, TypesWanted } from './type-mail.ts'

/** The part of a project that names the files whose types are read. */
export type TypedProject = Pick<CompiledProject, 'graphs'>

/** The types of a project's graphs. Types that could not be read are missing. */
export interface ProjectTypes {
  readonly graphs: ReadonlyMap<string, TypedSchemas>
  /** The graphs that its files add as nodes to others. */
  readonly nodes: readonly TypedNode[]
}

/** Limits on the process that reads types. */
export interface ReaderBounds {
  readonly flags: readonly string[]
  /** User that it runs as; undefined for the user of this process. */
  readonly user: number | undefined
}

/** Time that reading may take. Types that were read until then are kept. */
const readMs = 30_000
const lookMs = 1_000
/** Time after which a reading that failed is tried again: the machine may have been busy. */
const retryMs = 600_000
const typed = ['.ts', '.tsx', '.mts', '.cts']

/** Reads types when they are first asked for, and again when a file that they come from changes. */
export class TypeReader {
  readonly #env: Env
  readonly #heapMb: number
  readonly #closed = new AbortController()
  readonly #bounds: ReaderBounds
  #newest: { readonly project: TypedProject; readonly types: Promise<Read> } | undefined

  /** `heapMb` is what the compiler may fill. */
  constructor(env: Env, heapMb: number, bounds: ReaderBounds = { flags: [], user: undefined }) {
    this.#bounds = bounds
    this.#env = env
    this.#heapMb = heapMb
  }

  /** The types of a project; empty if it has no TypeScript or cannot be read. Never rejects. */
  async typesOf(project: TypedProject): Promise<ProjectTypes> {
    const newest = this.#newest
    if (newest?.project === project && this.#isFresh(await newest.types)) return newest.types
    // Another caller may have begun meanwhile.
    if (this.#newest !== newest) return this.typesOf(project)
    const types = this.#read(project)
    this.#newest = { project, types }
    return types
  }

  /** Ends what is being read. */
  close(): void {
    this.#closed.abort()
  }

  /** Files are looked at once a second at most: there may be thousands. */
  #isFresh(read: Read): boolean {
    const nowMs = this.#env.monotonicMs()
    if (nowMs >= read.untilMs) return false
    if (nowMs - read.lookedMs < lookMs) return true
    read.lookedMs = nowMs
    return read.files.every(([file, ms]) => changedMs(file) === ms)
  }

  async #read(project: TypedProject): Promise<Read> {
    const read: Read = { graphs: new Map(), nodes: [], files: [], lookedMs: this.#env.monotonicMs(),
      untilMs: Infinity }
    const graphs = project.graphs.filter(({ failure }) => failure === null)
      .map(({ graphId, url, exportName }) => ({ graphId, file: fileURLToPath(url), exportName }))
      .filter(({ file }) => typed.includes(extname(file)))
    if (graphs.length === 0 || this.#closed.signal.aborted) return read
    // Until the compiler says which files it read.
    read.files = graphs.map(({ file }) => [file, changedMs(file)])
    const failure = await this.#run({ graphs }, (message) => {
      if (message.type === 'files') read.files = message.read
      else if (message.type === 'nodes') read.nodes = message.nodes
      else read.graphs.set(message.graphId, message.schemas)
    }).catch(({ message }: Error) => message)
    if (failure !== null) {
      read.untilMs = this.#env.monotonicMs() + retryMs
      this.#env.log.debug('Not all types of the project could be read: schemas have the names ' +
        'of fields only.', { reason: failure })
    }
    return read
  }

  /** Resolves when all is read: with null, or with the reason why not. */
  async #run(wanted: TypesWanted, receive: (message: TypesRead) => void): Promise<string | null> {
    const child = fork(fileURLToPath(new URL('./type-process.ts', import.meta.url)), [], {
      execArgv: [...this.#bounds.flags, `--max-old-space-size=${this.#heapMb}`],
      env: environment(),
      ...asUser(this.#bounds.user),
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      serialization: 'advanced',
      signal: this.#closed.signal,
      killSignal: 'SIGKILL',
    })
    const ended = Promise.withResolvers<string | null>()
    const stopTimer = this.#env.after(readMs, () => {
      ended.resolve(`it took more than ${readMs / 1_000} seconds`)
      child.kill('SIGKILL')
    })
    child.on('message', receive)
    child.on('error', ({ message }) => ended.resolve(message))
    child.on('exit',
      (code, signal) =>
        ended.resolve(code === 0 ? null : `the compiler ended with ${code ?? signal}`))
    child.send(wanted, () => {})
    return ended.promise.finally(stopTimer)
  }
}

interface Read extends ProjectTypes {
  readonly graphs: Map<string, TypedSchemas>
  nodes: readonly TypedNode[]
  files: FileTimes
  /** Time at which the files were last seen unchanged. */
  lookedMs: number
  /** Time at which the types are read again in any case. */
  untilMs: number
}

/** The compiler reads files and nothing else, so that it needs no secret. */
function environment(): NodeJS.ProcessEnv {
  const { PATH, SYSTEMROOT, NODE_COMPILE_CACHE } = process.env
  return { PATH, SYSTEMROOT, NODE_COMPILE_CACHE }
}

/** The file `traces.db` of a data directory, opened when it is first needed. */

import { mkdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'

import type { Env } from '../../../../cluster/index.ts'
import { HeddleError } from '../../../errors.ts'
import { cautiousClock } from '../../../limits/index.ts'
import type { RemovalListener } from '../../../platform/index.ts'
import { Database } from '../file/database.ts'
import { callerDiskError, isDamage } from '../file/disk-error.ts'
import { provideFile } from '../writer/database-file.ts'
import { CommitQueue } from './commit-queue.ts'
import { FeedbackRows } from '../span-rows/feedback-rows.ts'
import { FileRows } from '../span-rows/file-rows.ts'
import { GoneRows } from '../span-rows/gone-rows.ts'
import { HourRows } from '../span-rows/hour-rows.ts'
import { Numbers } from '../span-rows/numbers.ts'
import { traceSchema } from './schema.ts'
import { SpanDeletion } from './span-deletion.ts'
import { SpanLives } from './span-lives.ts'
import { SpanReads } from './span-reads.ts'
import { SpanRemoval } from './span-removal.ts'
import { SpanWriter } from './span-writer.ts'
import { TenantUse } from '../span-rows/tenant-use.ts'
import { WordIndexer } from '../words/word-indexer.ts'

/** Time for which a thread that reads waits for the one that writes, when it keeps a roll-up. */
const readerPatienceMs = 20

/** Directory, bounds and access with which traces are opened. */
export interface TraceFileOptions {
  readonly directory: string
  /** Bytes that the file may use. */
  readonly diskBytes: number
  /** Bytes that a tenant may have in it; by default any number. */
  readonly tenantBytes?: number
  /** True, the default, if words are indexed. */
  readonly indexesWords?: boolean | undefined
  readonly access: 'write' | 'read'
  readonly env: Env
}

/** Tables for reading, over one connection. */
export interface OpenTraces {
  readonly database: Database
  readonly numbers: Numbers
  readonly hours: HourRows
  readonly feedback: FeedbackRows
  readonly files: FileRows
  readonly reads: SpanReads
  readonly use: TenantUse
}

/** Tables that only the one thread that writes has. */
export interface TraceWrites {
  readonly queue: CommitQueue
  readonly gone: GoneRows
  readonly writer: SpanWriter
  readonly removal: SpanRemoval
  readonly indexer: WordIndexer
}

interface OpenFile extends OpenTraces {
  readonly inode: number
  /** Undefined in threads that only read. */
  readonly writes?: TraceWrites
}

/**
 * The file of one thread. A file that cannot be used is tried again at each call, so that nothing
 * has to be started anew after its disk was repaired.
 */
export class TraceFile {
  readonly #options: TraceFileOptions
  readonly path: string
  #open: OpenFile | undefined
  #closed = false
  #onRemoval: RemovalListener = () => undefined

  constructor(options: TraceFileOptions) {
    // Made once, because a file that is opened again must not take a clock that jumped for right.
    const env = { ...options.env, nowMs: cautiousClock(options.env) }
    this.#options = { ...options, env }
    this.path = join(resolve(options.directory), 'traces.db')
  }

  /** Tables for reading; undefined if nothing was ever written. */
  get reads(): OpenTraces | undefined {
    if (this.#closed) throw new HeddleError('unavailable')
    const file = statSync(this.path, { throwIfNoEntry: false })
    // What is written into a file that was moved away would be lost.
    if (this.#open !== undefined && this.#open.inode === file?.ino) return this.#open
    this.#release()
    // The thread that writes makes the file, so that two do not make it at once.
    if (this.#options.access === 'read' && !file?.size) return undefined
    this.#open = this.#openFile()
    return this.#open
  }

  /** Tables for reading and writing. Throws `internal` in a thread that only reads. */
  get writes(): OpenTraces & TraceWrites {
    const { writes, ...reads } = this.reads as OpenFile
    if (writes === undefined) throw new HeddleError('internal')
    return { ...reads, ...writes }
  }

  /** The error as callers may see it. A damaged file is opened anew by the next call. */
  error(caught: unknown): HeddleError {
    if (isDamage(caught)) this.#release()
    return callerDiskError(caught, this.path)
  }

  /** Calls the listener with spans that are removed without being asked for. */
  watchRemovals(listener: RemovalListener): void {
    this.#onRemoval = listener
  }

  /** Commits what waits, and closes the file. */
  close(): void {
    this.#closed = true
    this.#release()
  }

  #release(): void {
    const open = this.#open
    this.#open = undefined
    open?.writes?.removal.close()
    open?.writes?.indexer.close()
    open?.writes?.queue.close()
    open?.database.close()
  }

  #openFile(): OpenFile {
    const { access, directory, env, diskBytes, tenantBytes = Infinity, indexesWords: isOn = true } =
      this.#options
    if (access === 'write') {
      mkdirSync(directory, { recursive: true })
      provideFile(this.path)
    }
    const database = new Database(this.path, traceSchema)
    const numbers = new Numbers(database)
    const hours = new HourRows(database)
    const use = new TenantUse(database)
    const feedback = new FeedbackRows(database, use)
    const files = new FileRows(database, use)
    const reads = new SpanReads(database, numbers)
    const open = { database, numbers, hours, feedback, files, reads, use,
      inode: statSync(this.path).ino }
    if (access === 'read') {
      database.prepare(`PRAGMA busy_timeout = ${readerPatienceMs}`).get()
      return open
    }
    database.transaction(() => use.correct())
    const queue = new CommitQueue({ database, hours, use, env })
    const gone = new GoneRows(database)
    const deletion = new SpanDeletion({ database, numbers, hours, feedback, files, gone, use, env })
    const lives = new SpanLives({ database, numbers, env })
    const writer = new SpanWriter({ database, numbers, hours, feedback, use, lives, gone, files,
      env })
    const removal = new SpanRemoval({ database, numbers, hours, feedback, gone, deletion, lives,
      writer, use, queue, env, diskBytes, tenantBytes,
      onRemoval: (removed) => this.#onRemoval(removed) })
    const indexer = new WordIndexer({ database, spans: reads, queue, env, isOn })
    return { ...open, writes: { queue, gone, writer, removal, indexer } }
  }
}

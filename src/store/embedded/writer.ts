/** The writer thread, which alone writes the file. Started by writer-link.ts. */

import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'

import { assert } from '../../errors.ts'
import { Database } from './database.ts'
import { diskError } from './disk-error.ts'
import { FilePlace } from './file-place.ts'
import { commitTogether } from './group-commit.ts'
import { unpackWrites } from './parcel.ts'
import type {
  AskedQuestion, Greeting, Reader, Reply, Requests, WireError, StoreFile,
} from './request.ts'
import { schema, Tables } from './tables.ts'
import type { Write } from './write.ts'

assert(parentPort, 'the writer runs in a worker thread')
const port = parentPort
const { path: file, shards } = workerData as StoreFile

function wireError(caught: unknown): WireError {
  const { code, message, facts, cause } = diskError(caught, file)
  return { code, sentence: message, facts, cause }
}

function answer(reader: Reader, { id, question, values }: AskedQuestion): Reply {
  try {
    const ask = reader[question] as (...values: readonly unknown[]) => unknown
    return { id, value: ask(...values) }
  } catch (error) {
    return { id, error: wireError(error) }
  }
}

interface AskedWrite {
  readonly id: number
  readonly write: Write
}

/** Shards per commit: whoever waits for the first one does not wait for all. */
const shardsTogether = 32

/** Received requests that are not done yet. */
class Waiting {
  writes: AskedWrite[] = []
  questions: AskedQuestion[] = []
  /** Loads and unloads of shards: so many rows that nobody else should wait for them. */
  readonly bulk: AskedWrite[] = []
  close = false

  /** A cover can wait: if it ended a batch, other shards would go into the file one by one. */
  get somebodyInHaste(): boolean {
    return this.writes.some(({ write }) => write.kind !== 'cover') ||
      this.questions.some(({ question }) => question !== 'unfinishedThreadsOf')
  }

  hear({ writeIds, writes, questions, close }: Requests): void {
    for (const [index, write] of unpackWrites(writes).entries()) {
      const isBulk = write.kind === 'load' || write.kind === 'unload'
      const queue = isBulk ? this.bulk : this.writes
      queue.push({ id: writeIds[index]!, write })
    }
    this.questions.push(...questions)
    this.close ||= close
  }

  hearAll(): void {
    for (let next = receiveMessageOnPort(port); next; next = receiveMessageOnPort(port)) {
      this.hear(next.message as Requests)
    }
  }
}

/** What the thread writes into; `place` if that has to outlive the process. */
interface Opened {
  readonly database: Database
  readonly tables: Tables
  readonly place: FilePlace | undefined
}

function serve(opened: Opened, waiting: Waiting): void {
  const { writes, questions } = waiting
  waiting.writes = []
  waiting.questions = []
  if (writes.length > 0) commit(opened, writes)
  if (questions.length > 0) {
    port.postMessage(questions.map((question) => answer(opened.tables.reader, question)))
  }
}

/** Some in turn until someone else waits: a page that many of them change is written once. */
function* bulkOf(waiting: Waiting): Generator<AskedWrite, void, void> {
  for (let shards = 1; ; shards += 1) {
    yield waiting.bulk.shift()!
    waiting.hearAll()
    const enough = waiting.bulk.length === 0 || shards === shardsTogether
    if (enough || waiting.somebodyInHaste) return
  }
}

function commit({ database, tables, place }: Opened, writes: Iterable<AskedWrite>): void {
  const ids: number[] = []
  const outcomes = commitTogether(database, tables, function* () {
    for (const { id, write } of writes) {
      ids.push(id)
      yield write
    }
  }())
  port.postMessage(ids.map((id, index): Reply => {
    const error = outcomes[index]
    return error === undefined ? { id } : { id, error: wireError(error) }
  }))
  // If the files are gone, this ends the thread. Before the replies it would delay every one.
  place?.check()
}

function start(): void {
  const database = new Database(file, schema, shards === undefined)
  const tables = new Tables(database, shards)
  const epoch = database.transaction(() => tables.nextEpoch())
  const place = shards === undefined ? new FilePlace(file) : undefined
  const opened = { database, tables, place }
  port.on('message', (first: Requests) => {
    const waiting = new Waiting()
    waiting.hear(first)
    waiting.hearAll()
    serve(opened, waiting)
    while (waiting.bulk.length > 0) {
      commit(opened, bulkOf(waiting))
      serve(opened, waiting)
      database.tidy()
    }
    if (!waiting.close) return database.tidy()
    database.close()
    port.close()
  })
  port.postMessage({ epoch } satisfies Greeting)
}

try {
  start()
} catch (error) {
  port.postMessage({ error: wireError(error) } satisfies Greeting)
}

/** The writer thread: the only one that touches the file. It is started by writer-link.ts. */

import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'

import { assert } from '../../errors.ts'
import { Database } from './database.ts'
import { diskError } from './disk-error.ts'
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

/** Whatever came in until now. */
function waiting(...first: readonly Requests[]): Requests[] {
  const batches = [...first]
  for (let next = receiveMessageOnPort(port); next; next = receiveMessageOnPort(port)) {
    batches.push(next.message as Requests)
  }
  return batches
}

interface AskedWrite {
  readonly id: number
  readonly write: Write
}

/** Comes and goes by shard: many rows, for which nobody else is to wait. */
function isBulk({ write: { kind } }: AskedWrite): boolean {
  return kind === 'load' || kind === 'unload'
}

/** Leaves what is bulk to `later`, in its order. */
function serve(database: Database, tables: Tables, batches: readonly Requests[],
  later: AskedWrite[]): void {
  const asked = batches.flatMap(({ writeIds, writes }) =>
    unpackWrites(writes).map((write, index): AskedWrite => ({ id: writeIds[index]!, write })))
  later.push(...asked.filter(isBulk))
  commit(database, tables, asked.filter((each) => !isBulk(each)))
  const questions = batches.flatMap((batch) => batch.questions)
  if (questions.length > 0) {
    port.postMessage(questions.map((question) => answer(tables.reader, question)))
  }
}

function commit(database: Database, tables: Tables, asked: readonly AskedWrite[]): void {
  if (asked.length === 0) return
  const outcomes = commitTogether(database, tables, asked.map(({ write }) => write))
  port.postMessage(asked.map(({ id }, index): Reply => {
    const error = outcomes[index]
    return error === undefined ? { id } : { id, error: wireError(error) }
  }))
}

function start(): void {
  const database = new Database(file, schema, shards === undefined)
  const tables = new Tables(database, shards)
  const epoch = database.transaction(() => tables.nextEpoch())
  port.on('message', (first: Requests) => {
    const later: AskedWrite[] = []
    let closing = false
    for (let batches = waiting(first); ; batches = waiting()) {
      serve(database, tables, batches, later)
      closing ||= batches.some(({ close }) => close)
      const next = later.shift()
      if (next === undefined) break
      commit(database, tables, [next])
      database.tidy()
    }
    if (!closing) return database.tidy()
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

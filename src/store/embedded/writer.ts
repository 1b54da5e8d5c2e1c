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
function waiting(first: Requests): Requests[] {
  const batches = [first]
  for (let next = receiveMessageOnPort(port); next; next = receiveMessageOnPort(port)) {
    batches.push(next.message as Requests)
  }
  return batches
}

function serve(database: Database, tables: Tables, batches: readonly Requests[]): void {
  const ids = batches.flatMap(({ writeIds }) => writeIds)
  if (ids.length > 0) {
    const writes = batches.flatMap((batch) => unpackWrites(batch.writes))
    const outcomes = commitTogether(database, tables, writes)
    port.postMessage(ids.map((id, index): Reply => {
      const error = outcomes[index]
      return error === undefined ? { id } : { id, error: wireError(error) }
    }))
  }
  const questions = batches.flatMap((batch) => batch.questions)
  if (questions.length > 0) {
    port.postMessage(questions.map((question) => answer(tables.reader, question)))
  }
}

function start(): void {
  const database = new Database(file, schema, shards === undefined)
  const tables = new Tables(database, shards)
  const epoch = database.transaction(() => tables.nextEpoch())
  port.on('message', (first: Requests) => {
    const batches = waiting(first)
    serve(database, tables, batches)
    if (!batches.some(({ close }) => close)) return database.tidy()
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

/** The writer thread: the only one that touches the file. It is started by writer-link.ts. */

import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'

import { assert } from '../../errors.ts'
import { Database } from './database.ts'
import { diskError } from './disk-error.ts'
import { commitTogether } from './group-commit.ts'
import type { Greeting, Reader, Reply, Request, Requests, WireError } from './request.ts'
import { schema, Tables } from './tables.ts'

assert(parentPort, 'the writer runs in a worker thread')
const port = parentPort
const { file } = workerData as { file: string }

function wireError(caught: unknown): WireError {
  const { code, message, facts } = diskError(caught, file)
  return { code, sentence: message, facts }
}

function answer(reader: Reader, request: Extract<Request, { question: unknown }>): Reply {
  const { id, question, values } = request
  try {
    const ask = reader[question] as (...values: readonly unknown[]) => unknown
    return { id, value: ask(...values) }
  } catch (error) {
    return { id, error: wireError(error) }
  }
}

/** Whatever came in until now. */
function waiting(first: Requests): Request[] {
  const requests = [...first]
  for (let next = receiveMessageOnPort(port); next; next = receiveMessageOnPort(port)) {
    requests.push(...(next.message as Requests))
  }
  return requests
}

function serve(database: Database, tables: Tables, requests: readonly Request[]): void {
  const writes = requests.filter((request) => 'write' in request)
  if (writes.length > 0) {
    const outcomes = commitTogether(database, tables, writes.map(({ write }) => write))
    port.postMessage(writes.map(({ id }, index): Reply => {
      const error = outcomes[index]
      return error === undefined ? { id } : { id, error: wireError(error) }
    }))
  }
  const questions = requests.filter((request) => 'question' in request)
  if (questions.length > 0) {
    port.postMessage(questions.map((request) => answer(tables.reader, request)))
  }
}

function start(): void {
  const database = new Database(file, schema)
  const tables = new Tables(database)
  const epoch = database.transaction(() => tables.nextEpoch())
  port.on('message', (first: Requests) => {
    const requests = waiting(first)
    serve(database, tables, requests)
    if (!requests.some((request) => 'close' in request)) return database.tidy()
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

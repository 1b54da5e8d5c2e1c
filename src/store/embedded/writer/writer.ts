/** The writer thread, which alone writes the file. Started by writer-link.ts. */

import { basename } from 'node:path'
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'

import { assert } from '../../../errors.ts'
import { memberOf } from '../../../json/index.ts'
import { catchUp, createWriteAhead, FileIdentity, readWriteAhead,
  removeWriteAhead } from '../durable/index.ts'
import { Database } from '../file/database.ts'
import { diskError, mayPass } from '../file/disk-error.ts'
import type { AskedQuestion, Batches, Greeting, Reader, Reply, Requests, StoreFile,
  WireError } from '../requests/request.ts'
import { schema, Tables } from '../requests/tables.ts'
import { transferred, unpackWrites } from '../requests/wire-batch.ts'
import { commitTogether } from './group-commit.ts'
import type { Commit } from './group-commit.ts'

assert(parentPort, 'the writer runs in a worker thread')
const port = parentPort
const { path: file, shards } = workerData as StoreFile

/** Callers from outside may get it: it names no folder, unless `named` does. */
function wireError(caught: unknown, named = basename(file)): WireError {
  const { code, message, details, cause } = diskError(caught, named)
  return { code, message: message, details, cause }
}

function answer(reader: Reader, { id, question, values }: AskedQuestion): Reply {
  try {
    const ask = reader[question] as (...values: readonly unknown[]) => unknown
    return { id, value: ask(...values) }
  } catch (error) {
    return { id, error: wireError(error) }
  }
}

interface AskedWrite extends Commit {
  readonly id: number
}

/** Shards in a commit. So who waits for the first one does not wait for all. */
const shardsTogether = 32

/** A question that is answered when the words noted by then are indexed. */
interface IndexWaiter {
  readonly question: AskedQuestion
  readonly upTo: number
}

/** Received requests that are not done yet. */
class Waiting {
  /** Writes. Acknowledged ones that failed the last time come first. */
  writes: AskedWrite[]
  questions: AskedQuestion[] = []
  /** Loads and unloads of shards. They have so many rows that nothing else should wait for them. */
  readonly bulk: AskedWrite[] = []
  close = false
  /** Questions that wait until the words noted by then are indexed. */
  readonly unindexed: IndexWaiter[]

  constructor(owed: AskedWrite[], unindexed: IndexWaiter[]) {
    this.writes = owed
    this.unindexed = unindexed
  }

  /**
   * True if a request cannot wait. A cover can: if it ended a batch, shards would go into the file
   * one by one.
   */
  get somebodyInHaste(): boolean {
    return this.writes.some(({ write }) => write.kind !== 'cover') ||
      this.questions.some(({ question }) => question !== 'unfinishedThreadsOf')
  }

  handle(batches: Batches): void {
    for (const requests of batches) this.#handle(requests)
  }

  handleAll(): void {
    for (let next = receiveMessageOnPort(port); next; next = receiveMessageOnPort(port)) {
      this.handle(next.message as Batches)
    }
  }

  #handle({ writeIds, writes, questions, number, acknowledged, close }: Requests): void {
    for (const [index, write] of unpackWrites(writes).entries()) {
      const isBulk = write.kind === 'load' || write.kind === 'unload'
      const queue = isBulk ? this.bulk : this.writes
      queue.push({ id: writeIds[index]!, write, number, acknowledged })
    }
    this.questions.push(...questions)
    this.close ||= close
  }
}

/** Files that the thread writes to. `place` is set for a file that has to outlive the process. */
interface Opened {
  readonly database: Database
  readonly tables: Tables
  readonly place: FileIdentity | undefined
}

/** Bytes of answers after which writes that came meanwhile are done first. */
const bytesAtOnce = 2 * 1024 * 1024

function serve(opened: Opened, waiting: Waiting): void {
  const { writes, questions } = waiting
  waiting.writes = []
  const wait = writes.some(({ acknowledged }) => !acknowledged)
  if (writes.length > 0) waiting.writes = commit(opened, writes, wait)
  postpone(opened, waiting)
  if (questions.length === 0) return
  const replies = answers(opened, waiting.writes, questions)
  port.postMessage(replies, replies.flatMap(({ value }) => transferred(value)))
}

/** Takes out the questions that wait for the index of words. */
function postpone({ tables }: Opened, { questions, unindexed }: Waiting): void {
  for (const question of questions.filter((each) => each.question === 'wordsNoted')) {
    questions.splice(questions.indexOf(question), 1)
    unindexed.push({ question, upTo: tables.words.newest })
  }
}

/**
 * Indexes words in steps, each in a turn of its own. Commits do not wait for the disk: what is lost
 * is still noted.
 */
class Indexing {
  readonly #opened: Opened
  readonly waiters: IndexWaiter[] = []
  #next: NodeJS.Immediate | undefined

  constructor(opened: Opened) {
    this.#opened = opened
  }

  /** Goes on, if it is worth a step or a question waits for it. */
  resume(): void {
    if (this.waiters.length === 0 && !this.#opened.tables.words.isStepDue) return
    this.#next ??= setImmediate(() => this.#step())
  }

  stop(): void {
    clearImmediate(this.#next)
  }

  #step(): void {
    this.#next = undefined
    const { database, tables } = this.#opened
    try {
      if (tables.words.newest > 0) database.transaction(() => tables.words.step(), false)
      for (const { question } of this.#done()) this.#reply(answer(tables.reader, question))
      database.tidy()
      this.resume()
    } catch (error) {
      // The next request tries again.
      for (const { question: { id } } of this.waiters.splice(0)) {
        this.#reply({ id, error: wireError(error) })
      }
    }
  }

  #done(): IndexWaiter[] {
    const { words } = this.#opened.tables
    const done = this.waiters.filter(({ upTo }) => words.isIndexed(upTo))
    for (const each of done) this.waiters.splice(this.waiters.indexOf(each), 1)
    return done
  }

  #reply(reply: Reply): void {
    port.postMessage([reply])
  }
}

/** Answers some questions, and removes them from the list. */
function someAnswers(reader: Reader, questions: AskedQuestion[]): Reply[] {
  const replies: Reply[] = []
  for (let bytes = 0; bytes < bytesAtOnce && questions.length > 0;) {
    const reply = answer(reader, questions.shift()!)
    bytes += bytesOf(reply)
    replies.push(reply)
  }
  return replies
}

function bytesOf({ value }: Reply): number {
  const bytes = memberOf(value, 'bytes')
  return bytes instanceof Uint8Array ? bytes.byteLength : 0
}

/** Answers questions with what is acknowledged, even while that cannot be committed. */
function answers({ database, tables }: Opened, owed: readonly AskedWrite[],
  questions: AskedQuestion[]): Reply[] {
  const answerAll = () => someAnswers(tables.reader, questions)
  if (owed.length === 0) return answerAll()
  try {
    return database.readThenRollback(() => {
      for (const { write } of owed) tables.apply(write)
      return answerAll()
    })
  } catch (error) {
    return questions.splice(0).map(({ id }) => ({ id, error: wireError(error) }))
  } finally {
    tables.forget()
  }
}

/**
 * Yields loads and unloads until another request waits. Pages that many of them change are written
 * once.
 */
function* bulkOf(waiting: Waiting): Generator<AskedWrite, void, void> {
  for (let shards = 1;; shards += 1) {
    yield waiting.bulk.shift()!
    waiting.handleAll()
    const enough = waiting.bulk.length === 0 || shards === shardsTogether
    if (enough || waiting.somebodyInHaste) return
  }
}

/**
 * Commits writes. Returns those that are acknowledged and must be tried again. Without `wait`, the
 * commit does not wait for the disk, for writes that are all acknowledged.
 */
function commit({ database, tables, place }: Opened, writes: Iterable<AskedWrite>,
  wait = true): AskedWrite[] {
  const asked: AskedWrite[] = []
  const outcomes = commitTogether(database, tables, function*() {
    for (const write of writes) {
      asked.push(write)
      yield write
    }
  }(), wait)
  const owed: AskedWrite[] = []
  const replies: Reply[] = []
  for (const [index, write] of asked.entries()) {
    const { id, acknowledged } = write
    const outcome = outcomes[index]
    if (acknowledged && mayPass(outcome)) owed.push(write)
    else replies.push(outcome === undefined ? { id } : { id, error: wireError(outcome) })
  }
  // Ends the thread if the files are gone, before a caller learns that a write is done there.
  place?.check()
  port.postMessage(replies)
  return owed
}

/** Removes the write-ahead file if the database has all of it. */
function end({ database, tables }: Opened, owed: readonly AskedWrite[]): void {
  if (shards === undefined && owed.length === 0) {
    try {
      // What has not waited for the disk is on it after this.
      database.transaction(() => tables.generation.mark(tables.generation.newest.written + 1))
      removeWriteAhead(file)
    } catch {
      // The next start takes from the write-ahead file what is missing.
    }
  }
  database.close()
}

function start(): void {
  const database = new Database(file, schema, shards === undefined)
  const tables = new Tables(database, shards)
  if (shards === undefined) catchUp({ file, database, tables }, readWriteAhead(file))
  const generation = database.transaction(() => tables.begin())
  if (shards === undefined) createWriteAhead(file)
  const place = shards === undefined ? new FileIdentity(file) : undefined
  const opened = { database, tables, place }
  const indexing = new Indexing(opened)
  let owed: AskedWrite[] = []
  port.on('message', (first: Batches) => {
    const waiting = new Waiting(owed, indexing.waiters)
    waiting.handle(first)
    waiting.handleAll()
    serve(opened, waiting)
    while (waiting.bulk.length > 0 || waiting.questions.length > 0) {
      if (waiting.bulk.length > 0) commit(opened, bulkOf(waiting))
      else waiting.handleAll()
      serve(opened, waiting)
      database.tidy()
    }
    owed = waiting.writes
    if (!waiting.close) {
      indexing.resume()
      return database.tidy()
    }
    indexing.stop()
    end(opened, owed)
    port.close()
  })
  port.postMessage(generation satisfies Greeting)
  indexing.resume()
}

try {
  start()
} catch (error) {
  port.postMessage({ error: wireError(error, file) } satisfies Greeting)
}

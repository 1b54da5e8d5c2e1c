/** A search with random values: it runs for a time, by day from a seed that stands here. */

import { appendFileSync, existsSync, readFileSync } from 'node:fs'

import fc from 'fast-check'
import { expect, TestRunner } from 'vitest'

import { isNight } from './repeats.ts'

declare module 'vitest' {
  interface TaskMeta {
    /** Milliseconds of processor that searches of this case took. */
    searchMs?: number
  }
}

/** Where the night writes what it found, a JSON object a line, to be committed. */
export const foundFile = new URL('./found-seeds.jsonl', import.meta.url)

/** A failure that a night found. By day its search begins with it. */
interface FoundSeed {
  /** Full name of the test. */
  readonly test: string
  readonly seed: number
  /** Path of fast-check to the smallest value that failed. */
  readonly path: string
}

/** The seed of all searches by day. */
const daySeed = 20_261_127

/**
 * The seed of a night. `npm run test:nightly` chooses and prints it; a search that fails prints its
 * own as well.
 */
const seed = isNight ? Number(process.env['HEDDLE_SEARCH_SEED'] ?? Date.now() % 2 ** 31) : daySeed

/** Milliseconds of processor for a search whose share is 1. With half of it, some faults stay. */
const shareMs = isNight ? 500 : 2.5

/** Tries that each search makes if it can, for up to four times its time: first ones are slow. */
const triesMin = 30

/** How often a search tries at most: where each try is short, its time ends it before. */
const triesMax = 1_000_000

/** How a search differs from others. */
export interface SearchOptions<Values> {
  /** How many times the usual time it may take; 1 by default. */
  readonly share?: number
  /** Values that are tried first. */
  readonly examples?: Values[]
  /** True where it is meant to fail: a night does not write down what it finds. */
  readonly isMeantToFail?: boolean
}

/** Tries the property with random values for a time. Throws the smallest that fails. */
export function expectAlways<Values>(
  property: fc.IProperty<Values>,
  options?: SearchOptions<Values>,
): void
/** The same for a property that waits. */
export function expectAlways<Values>(
  property: fc.IAsyncProperty<Values>,
  options?: SearchOptions<Values>,
): Promise<void>
/** What both have in common. */
export function expectAlways<Values>(
  property: fc.IRawProperty<Values>,
  { share = 1, examples = [], isMeantToFail = false }: SearchOptions<Values> = {},
): void | Promise<void> {
  const repeated = foundSeeds().filter(({ test }) => test === currentTest()).map((found) =>
    fc.check(property, { seed: found.seed, path: found.path, endOnFailure: true })
  )
  const clock = new SearchClock(share * shareMs)
  const judge = (details: fc.RunDetails<Values>) => {
    if (details.failed) fail(details, isNight && !isMeantToFail)
  }
  const searched = fc.check(new Timed(property, clock), { seed, examples, numRuns: triesMax,
    skipEqualValues: false })
  if (!(searched instanceof Promise)) {
    clock.stop()
    ;[...repeated as fc.RunDetails<Values>[], searched].forEach(judge)
    return
  }
  return Promise.all([...repeated, searched]).then((all) => {
    clock.stop()
    all.forEach(judge)
  })
}

/** The processor time of this process, with its threads, that a search takes. */
class SearchClock {
  readonly #limitMs: number
  readonly #from = process.cpuUsage()

  constructor(limitMs: number) {
    this.#limitMs = limitMs
  }

  isOver(tries: number): boolean {
    return this.#spentMs >= this.#limitMs * (tries < triesMin ? 4 : 1)
  }

  stop(): void {
    noteSearch(this.#spentMs)
  }

  get #spentMs(): number {
    const { user, system } = process.cpuUsage(this.#from)
    return (user + system) / 1000
  }
}

/** A property that is tried until a clock says stop, and at least once. */
class Timed<Values> implements fc.IRawProperty<Values> {
  readonly #property: fc.IRawProperty<Values>
  readonly #clock: SearchClock
  #tries = 0
  #hasFailed = false

  constructor(property: fc.IRawProperty<Values>, clock: SearchClock) {
    this.#property = property
    this.#clock = clock
  }

  isAsync = (() => this.#property.isAsync()) as fc.IRawProperty<Values>['isAsync']

  generate(random: fc.Random, runId?: number): fc.Value<Values> {
    return this.#property.generate(random, runId)
  }

  shrink(value: fc.Value<Values>): fc.Stream<fc.Value<Values>> {
    return this.#property.shrink(value)
  }

  runBeforeEach = (() => this.#property.runBeforeEach()) as fc.IRawProperty<Values>['runBeforeEach']

  runAfterEach = (() => this.#property.runAfterEach()) as fc.IRawProperty<Values>['runAfterEach']

  run = ((value: Values) => {
    // What has failed is made small, however long that takes.
    if (this.#tries++ > 0 && !this.#hasFailed && this.#clock.isOver(this.#tries)) {
      const stop = new fc.PreconditionFailure(true)
      return this.isAsync() ? Promise.resolve(stop) : stop
    }
    const outcome = this.#property.run(value)
    if (outcome instanceof Promise) return outcome.then((each) => this.#note(each))
    return this.#note(outcome)
  }) as fc.IRawProperty<Values>['run']

  #note<Outcome>(outcome: Outcome): Outcome {
    this.#hasFailed ||= outcome !== null && !fc.PreconditionFailure.isFailure(outcome)
    return outcome
  }
}

/** Adds what a search took to the costs of the case under way. */
function noteSearch(ms: number): void {
  const meta = TestRunner.getCurrentTest()?.meta
  if (meta !== undefined) meta.searchMs = (meta.searchMs ?? 0) + ms
}

/** Throws what was found, and writes it down if that is wanted. */
function fail<Values>(details: fc.RunDetails<Values>, isWritten: boolean): never {
  if (isWritten && details.counterexamplePath !== null) {
    const found: FoundSeed = { test: currentTest(), seed: details.seed,
      path: details.counterexamplePath }
    appendFileSync(foundFile, `${JSON.stringify(found)}\n`)
  }
  const message = fc.defaultReportMessage(details) ?? 'The search ended without a try.'
  throw new Error(message, { cause: details.errorInstance })
}

function currentTest(): string {
  return expect.getState().currentTestName ?? ''
}

function foundSeeds(): readonly FoundSeed[] {
  if (!existsSync(foundFile)) return []
  return readFileSync(foundFile, 'utf8').split('\n').filter(Boolean).map((line) =>
    JSON.parse(line) as FoundSeed
  )
}

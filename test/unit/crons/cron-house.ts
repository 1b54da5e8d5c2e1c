/** Crons over a log in memory, with due times, kills, and a wall clock that jumps. */

import { ActivationTable, createRouter, inProcessTransport, placedOwnership,
  soleMember } from '../../../cluster/index.ts'
import type { Env } from '../../../cluster/index.ts'
import { LogRow } from '../../../proto/gen/storage/v1/log.ts'
import type { CronRow } from '../../../proto/gen/storage/v1/row.ts'
import type { PurgeSubject, RecordOf } from '../../../src/checkpoint/index.ts'
import { cronClient, cronKind } from '../../../src/crons/index.ts'
import type { CronClient, CronContent, FiringOutcome } from '../../../src/crons/index.ts'
import type { DueActors } from '../../../src/server/due-wakes.ts'
import { watchClock } from '../../../src/server/clock-jumps.ts'
import { DueWakes } from '../../../src/server/due-wakes.ts'
import { aheadUntilMs } from '../../../src/search/index.ts'
import { virtualEnv } from '../../support/env.ts'
import { MemoryLog } from '../../support/memory-log.ts'
import { settled } from '../../support/thread-house.ts'

/** What happens to a firing: the run is made or not, and the answer comes, fails or is lost. */
export type Fate = 'fired' | 'lost before' | 'lost after' | 'fails before' | 'fails after'
  | 'refused' | 'rejected' | 'skipped' | 'gone'

const self = { id: 'm', address: 'here' }
const never = new Promise<never>(() => {})

class CronLogTwin extends MemoryLog {
  override shared = true

  /** The newest row of each cron. */
  get crons(): CronRow[] {
    const rows = this.updates.flatMap((update) => update.table === 'cron' ? [update.row] : [])
    return [...new Map(rows.map((row) => [row.cronId, row])).values()]
  }

  override async purge(subject: PurgeSubject): Promise<void> {
    await super.purge(subject)
    const left = this.updates.filter((update) =>
      update.table !== 'cron' || update.row.cronId !== subject.id
    )
    this.updates.splice(0, this.updates.length, ...left)
  }
}

/** A member with crons. */
export class CronHouse {
  readonly #clock = virtualEnv()
  readonly log = new CronLogTwin()
  readonly env: Env
  /** Due times whose runs were made, in order, and how often each firing was tried. */
  readonly runs: number[] = []
  readonly tries: number[] = []
  fate: Fate = 'fired'
  /** Answers of firings wait for it. */
  gate: Promise<void> = Promise.resolve()
  /** Called for each firing. */
  tried: (dueMs: number) => void = () => {}
  /** Milliseconds that the wall clock is ahead. */
  aheadMs = 0
  crons!: CronClient
  #epoch = 0
  #dueWakes: DueWakes | undefined

  constructor() {
    this.env = { ...this.#clock, nowMs: () => this.#clock.nowMs() + this.aheadMs }
    watchClock({ env: this.env, directory: '/dev/null', wentBack: () => this.#dueWakes?.note(0) })
    this.start()
  }

  get lines() {
    return this.#clock.lines.map(({ message }) => message)
  }

  /** Begins a life. What the one before has begun is lost. */
  start(): void {
    this.#dueWakes?.close()
    const epoch = ++this.#epoch
    const { env, log } = this
    const kind = cronKind({
      log,
      env,
      index: {
        get: async (tenant, id) =>
          log.crons.find((row) => row.tenant === tenant && row.cronId === id),
      },
      fire: (_, dueMs) => epoch === this.#epoch ? this.#fire(dueMs) : never,
      wakeAt: (atMs) => dueWakes.note(atMs),
    })
    const activations = new ActivationTable({ env, kinds: [kind] })
    const ownership = placedOwnership({ view: soleMember(self), shards: 1, epoch })
    const router = createRouter({ env, ownership, activations, transport: inProcessTransport() })
    const dueWakes: DueWakes = this.#dueWakes = new DueWakes({ env, due: this.#due, atOnce: 64,
      wake: async (key) => {
        if (epoch === this.#epoch) await activations.ask(key, epoch, { kind: 'look' })
      } })
    this.crons = cronClient(router)
    dueWakes.note(0)
  }

  /** Ends the life without a word, for a while. */
  async kill(downMs: number): Promise<void> {
    this.#dueWakes?.close()
    this.#epoch++
    this.#clock.advance(downMs)
    await settled()
    this.start()
    await settled()
  }

  async create(content: Partial<CronContent> = {}): Promise<CronRow> {
    const cronId = this.env.uuid()
    return this.crons.create({ tenant: 't', cronId }, { assistantId: 'a', threadId: '',
      schedule: '* * * * *', timezone: '', endTimeMs: 0, enabled: true, onRunCompleted: 'delete',
      metadataJson: '{}', payloadJson: '{}', userId: '', ...content })
  }

  /** Moves both clocks on, in steps that let what is due happen. */
  async advance(ms: number, stepMs = 10_000): Promise<void> {
    for (let left = ms; left > 0; left -= stepMs) {
      this.#clock.advance(Math.min(left, stepMs))
      await settled()
    }
  }

  /** All records of the log but the marks of commands, oldest first. */
  records(): RecordOf[] {
    return this.log.rows.flatMap(({ body }) => LogRow.decode(body).records)
      .flatMap(({ record }) => record && record.$case !== 'commandApplied' ? [record] : [])
  }

  #due: DueActors = async ({ atMs, no }, limit) =>
    this.log.crons.map((row, index) => ({
      key: { kind: 'cron', tenant: row.tenant, id: row.cronId },
      atMs: this.#isAhead(row) ? 1 : row.wakeMs,
      no: index + 1,
    })).filter((each) => each.atMs > atMs || (each.atMs === atMs && each.no > no))
      .filter((each) => each.atMs > 0).toSorted((a, b) => a.atMs - b.atMs || a.no - b.no)
      .slice(0, limit)

  #isAhead(row: CronRow): boolean {
    const untilMs = aheadUntilMs(row)
    return row.enabled && untilMs > this.env.nowMs() && (row.wakeMs === 0 || row.wakeMs > untilMs)
  }

  async #fire(dueMs: number): Promise<FiringOutcome> {
    this.tries.push(dueMs)
    this.tried(dueMs)
    const { fate } = this
    if (['fired', 'lost after', 'fails after'].includes(fate) && !this.runs.includes(dueMs)) {
      this.runs.push(dueMs)
    }
    await this.gate
    switch (fate) {
      case 'fired':
        return { kind: 'fired', runId: `run ${dueMs}` }
      case 'refused':
      case 'rejected':
        return { kind: 'refused', reason: 'full', mayPass: fate === 'refused' }
      case 'skipped':
        return { kind: 'skipped', reason: 'The deployment is paused.' }
      case 'gone':
        return { kind: 'gone', reason: 'The thread is gone.' }
      case 'lost before':
      case 'lost after':
        return never
      default:
        throw new Error('nobody knows')
    }
  }
}

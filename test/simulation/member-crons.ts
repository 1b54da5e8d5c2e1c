/** The crons of a simulated member: real actors, whose runs are items of a list. */

import type { ActivationTable, ActorKey, ActorKind } from '../../cluster/index.ts'
import type { CronRow } from '../../proto/gen/storage/v1/row.ts'
import type { LogPort } from '../../src/checkpoint/index.ts'
import { cronKind, runIdOf } from '../../src/crons/index.ts'
import { HeddleError } from '../../src/errors.ts'
import { DueWakes, dueCronActors } from '../../src/server/due-wakes.ts'
import type { LocalIndex } from '../../src/store/cassandra/index/local-index.ts'
import type { Command } from './list-actor.ts'
import { tenant } from './list-actor.ts'
import type { Process } from './process.ts'
import type { Rule } from './rule.ts'

/** A second of the world is a minute of the crons, whose schedules have no seconds. */
const pace = 60

export interface MemberCronsOptions {
  readonly process: Process
  readonly index: Pick<LocalIndex, 'crons' | 'dueCrons'>
  readonly log: LogPort
  readonly without: Rule | undefined
  readonly ask: (key: ActorKey, command: unknown) => Promise<unknown>
  /** Of the activation of a key here; undefined if another member owns it. */
  readonly epochOf: (key: ActorKey) => number | undefined
}

export class MemberCrons {
  readonly kind: ActorKind
  readonly #options: MemberCronsOptions
  readonly #dueWakes: DueWakes

  constructor(options: MemberCronsOptions, activations: () => ActivationTable) {
    this.#options = options
    const { process, index, log, epochOf } = options
    const { env: real } = process
    const env = { ...real, nowMs: () => real.nowMs() + Math.floor(real.monotonicMs() * (pace - 1)),
      after: (ms: number, fn: () => void) => real.after(ms / pace, fn) }
    this.#dueWakes = new DueWakes({ env, due: dueCronActors(index.dueCrons, env),
      wake: async (key) => {
        const epoch = epochOf(key)
        if (epoch !== undefined) await activations().ask(key, epoch, { kind: 'look' })
      } })
    this.kind = cronKind({ log, env, index: index.crons,
      fire: (cron, dueMs) => this.#fire(cron, dueMs),
      wakeAt: (atMs) => this.#dueWakes.note(atMs) }) as ActorKind
  }

  /** Looks at what is due, as after the take-over of a shard. */
  look(): void {
    this.#dueWakes.note(0)
  }

  /** The list keeps an item once, as a thread keeps a run. */
  async #fire({ cronId }: CronRow, dueMs: number) {
    const { ask, without, process } = this.#options
    const id = without === 'due_run_id' ? process.env.uuid() : runIdOf(tenant, cronId, dueMs)
    const item = `${dueMs} ${id}`
    const command: Command = { type: 'append', item, once: true }
    try {
      await ask({ kind: 'thread', tenant, id: listOf(cronId) }, command)
    } catch (error) {
      throw HeddleError.from(error)
    }
    return { kind: 'fired', runId: id } as const
  }
}

/** The list of the runs of a cron. */
export function listOf(cronId: string): string {
  return `runs of ${cronId}`
}

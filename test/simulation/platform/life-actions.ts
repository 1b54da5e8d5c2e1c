/** What decides in a simulation how long data lives: time, clocks, tiers and recordings. */

import { tenant } from './platform-house.ts'
import { longestDays, shortestDays } from './platform-model.ts'
import type { ModelProject, ModelRecording } from './platform-model.ts'
import type { ActionParts } from './trace-actions.ts'

const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000]
/** Time in which a store may delete early, or late, what reaches its end. */
const nearMs = hourMs
/** Minutes after which all rows have the life of the last change, also those of a dead server. */
const settleMinutes = 13
/** Days that a deployment may keep its recordings. */
const recordDays = [2, 100] as const

/** The actions on time, and on what a tier or a deployment keeps. */
export class LifeActions {
  readonly #parts: ActionParts

  readonly all: Readonly<Record<string, () => Promise<void>>> = {
    'clock ahead': () => this.#setClockAhead(),
    hours: () => this.#passHours(),
    days: () => this.#passDays(),
    tier: () => this.#changeTier(),
    recording: () => this.#record(),
    'late recording': () => this.#recordLate(),
    'delete recording': () => this.#deleteRecording(),
  }

  constructor(parts: ActionParts) {
    this.#parts = parts
  }

  /** Lets the longest life pass: nothing is stored after it. */
  async endAll(): Promise<void> {
    const { house, model } = this.#parts
    for (let days = 0; days <= longestDays; days += 10) house.jump(10 * dayMs)
    await this.#expire()
    for (const { feedback } of model.spans) feedback.clear()
  }

  async #setClockAhead(): Promise<void> {
    const { house } = this.#parts
    house.aheadMs = 500 * dayMs
    await house.pass(90)
    house.aheadMs = 0
  }

  async #passHours(): Promise<void> {
    const { chance, house } = this.#parts
    // In few steps, because timers of seconds fire in each.
    house.jump(chance.below(5) * hourMs)
    await house.pass(2)
    await this.#expire()
  }

  async #passDays(): Promise<void> {
    const { chance, checks, house, model } = this.#parts
    const days = chance.pick([1, 15, 15, 60])
    // The notes of removals live no longer.
    if (!model.mayPass(days)) return
    // A rule reads only the ends of a week.
    await checks.checkJudged()
    for (let minute = 0; minute < settleMinutes; minute++) {
      house.jump(minuteMs)
      await house.pass(1)
    }
    for (let day = 0; day < days; day++) {
      house.jump(dayMs)
      await house.pass(1)
    }
    await this.#expire()
  }

  async #changeTier(): Promise<void> {
    const { chance, model } = this.#parts
    const project = model.aProject()
    if (project !== undefined) await this.setTier(project, chance.flip(0.5))
  }

  /** Changes the tier of a project whose id is known. */
  async setTier(project: ModelProject, longLived: boolean): Promise<void> {
    const { house } = this.#parts
    const { retentionDays } = await house.now.projects.patch(tenant, project.id!, { longLived,
      retentionDays: longLived ? longestDays : shortestDays })
    project.retentionDays = retentionDays
    await this.#expire()
  }

  /** Records runs of a deployment, whose settings change in between. */
  async #record(): Promise<void> {
    const { chance, house, model } = this.#parts
    const deployment = chance.pick(['first', 'second'])
    for (const days of chance.shuffled(recordDays)) {
      const one = { run: house.newId('4'), days, atMs: house.rightMs, deployment, end: undefined }
      await this.#putRecording(one)
      model.recordings.push(one)
    }
  }

  /** A worker sends calls of a run that was deleted. */
  async #recordLate(): Promise<void> {
    const one = this.#parts.model.aRecording('deleted')
    if (one !== undefined) await this.#parts.house.during(this.#putRecording(one))
  }

  #putRecording({ run, days, atMs, deployment }: ModelRecording): Promise<void> {
    const { chance, house } = this.#parts
    return house.now.ingest.putRecording({ tenant, deployment, runId: run, startedAtMs: atMs, no: 0,
      body: Buffer.from('calls'), timeToLiveS: days * (dayMs / 1_000),
      ...chance.flip(0.5) && { label: 'shadow' } })
  }

  async #deleteRecording(): Promise<void> {
    const { house, model } = this.#parts
    const one = model.aRecording(undefined)
    if (one === undefined) return
    await house.during(
      house.now.ingest.removeRecordings({ tenant, deployment: one.deployment, runs: [one.run] }),
    )
    one.end = 'deleted'
  }

  /** Removes from the model what has reached its end, when no end is near. */
  async #expire(): Promise<void> {
    const { house, model } = this.#parts
    while (model.hasEndNear(house.rightMs, nearMs)) house.jump(2 * nearMs)
    model.expire(house.rightMs)
    await house.pass(20)
  }
}

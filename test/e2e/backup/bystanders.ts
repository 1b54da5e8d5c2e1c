/** Everything else that a server has under way while it is backed up, until that is stopped. */

import { randomUUID } from 'node:crypto'
import type { Client } from '@langchain/langgraph-sdk'
import { expect } from 'vitest'

import { ruleWire } from '../../support/rules.ts'
import { say } from '../../support/run-events.ts'
import { clientOf } from '../../support/server.ts'
import { deployedProject, replying } from '../deploy/deployed-project.ts'
import type { DeployedProject } from '../deploy/deployed-project.ts'
import { DeployTarget } from '../deploy/deploy-target.ts'

/** Something that was acknowledged, until its removal was asked for. */
interface Known {
  readonly id: string
  readonly atMs: number
  removedMs: number
}

/** When a backup was made. */
export interface BackupTime {
  readonly beganMs: number
  readonly endedMs: number
}

/** What must be in a backup: acknowledged before it began, and not removed before it ended. */
const requiredIn = (known: readonly Known[], { beganMs, endedMs }: BackupTime) =>
  known.filter((each) => each.atMs < beganMs && each.removedMs > endedMs).map(({ id }) => id)

/** The load of one server, and what it knows. */
export class Bystanders {
  readonly #url: string
  readonly #client: Client
  readonly #webhook: string
  readonly #crons: Known[] = []
  readonly #traces: Known[] = []
  readonly #deploys: { readonly version: number; readonly atMs: number }[] = []
  #project: DeployedProject | undefined

  constructor(url: string, webhook: string) {
    this.#url = url
    this.#client = clientOf(url)
    this.#webhook = webhook
  }

  /** Deploys a first version, whose graph answers with its version and its secret. */
  async deploy(): Promise<void> {
    this.#project = await deployedProject()
    const shop = new DeployTarget(this.#url, 'shop')
    expect(await shop.create()).toMatchObject({ status: 201 })
    await shop.own('PUT', '/secrets/CODE', { value: 'of the shop' })
    await this.#deployNext()
  }

  /** Makes load of every kind. Resolves when it is stopped. */
  async load(stopped: AbortSignal): Promise<void> {
    const again = async (work: () => Promise<unknown>) => {
      while (!stopped.aborted) await work()
    }
    const work = [() => this.#talkWithoutThread(), () => this.#talkWithoutThread(),
      () => this.#leaveWithoutThread(), () => this.#callWebhook(), () => this.#keepCrons(),
      () => this.#trace()]
    if (this.#project !== undefined) work.push(() => this.#deployNext())
    await Promise.all(work.map(again))
  }

  close(): Promise<void> | undefined {
    return this.#project?.remove()
  }

  /** What a restored server lacks of what was acknowledged before the backup began. */
  async missingAt(url: string, time: BackupTime): Promise<readonly string[]> {
    const client = clientOf(url)
    const crons = await client.crons.search({ limit: 1_000 })
    const found = new Set(crons.map(({ cron_id: id }) => id))
    const missing = requiredIn(this.#crons, time).filter((id) => !found.has(id))
      .map((id) => `cron ${id}`)
    const awake = crons.filter((cron) => (cron as { enabled?: boolean }).enabled !== false)
    missing.push(...awake.map(({ cron_id: id }) => `cron ${id} is enabled`))
    const wire = ruleWire({ url })
    for (const id of requiredIn(this.#traces, time).slice(-20)) {
      const { status } = await wire.send('GET', `/runs/${id}`)
      if (status !== 200) missing.push(`trace ${id}: ${status}`)
    }
    if (this.#project !== undefined) {
      const answer = await new DeployTarget(url, 'shop').answer() ?? 'nothing'
      const [version, secret] = answer.split(' with ')
      const least = this.#deploys.filter((each) => each.atMs < time.beganMs).length
      if (secret !== 'of the shop' || Number(version) < least) {
        missing.push(`deployment: ${answer}, after version ${least} was deployed`)
      }
    }
    return missing
  }

  async #deployNext(): Promise<void> {
    const version = this.#deploys.length + 1
    const code = replying(`return say('${version} with ' + process.env.CODE)`)
    await new DeployTarget(this.#url, 'shop').deploy(await this.#project!.built(code))
    this.#deploys.push({ version, atMs: Date.now() })
  }

  async #talkWithoutThread(): Promise<void> {
    await this.#client.runs.wait(null, 'echo', { input: say('without a thread') })
  }

  /** Nobody comes for its end. */
  async #leaveWithoutThread(): Promise<void> {
    await this.#client.runs.create(null, 'steps', { input: say('left alone') })
    await this.#client.runs.create(null, 'echo', { input: say('later'), afterSeconds: 2 })
    await new Promise((done) => setTimeout(done, 20))
  }

  async #callWebhook(): Promise<void> {
    const { thread_id: id } = await this.#client.threads.create()
    await this.#client.runs.wait(id, 'echo', { input: say('called'), webhook: this.#webhook })
    await this.#client.threads.delete(id)
  }

  /** Five are kept, and the oldest goes for each that comes. */
  async #keepCrons(): Promise<void> {
    const { cron_id: id } = await this.#client.crons.create('echo', { schedule: '* * * * *',
      input: say('tick') })
    this.#crons.push({ id, atMs: Date.now(), removedMs: Infinity })
    const kept = this.#crons.filter(({ removedMs }) => removedMs === Infinity)
    if (kept.length <= 5) return
    kept[0]!.removedMs = Date.now()
    await this.#client.crons.delete(kept[0]!.id)
  }

  async #trace(): Promise<void> {
    const wire = ruleWire({ url: this.#url })
    const id = randomUUID()
    await wire.end(await wire.project('traced'), [{ id }])
    this.#traces.push({ id, atMs: Date.now(), removedMs: Infinity })
  }
}

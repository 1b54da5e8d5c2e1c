/** Writes down how far an experiment is: what ends meanwhile is written together. */

import type { Env } from '../../../../cluster/index.ts'
import { HeddleError } from '../../../errors.ts'
import { changeFresh } from '../../records/catalog/fresh-change.ts'
import { isOpen, progressAfter } from './background-experiment.ts'
import type { BackgroundExperiment, ExperimentEvent } from './background-experiment.ts'
import type { ExperimentName, ExperimentRecords } from './experiment-records.ts'

/** The record of one experiment. */
export class ProgressKeeper {
  readonly #records: Pick<ExperimentRecords, 'get' | 'save'>
  readonly #env: Pick<Env, 'nowMs'>
  readonly #name: ExperimentName
  #experiment: BackgroundExperiment
  #waiting: ExperimentEvent[] = []
  #saving: Promise<void> | undefined

  constructor(
    { records, env }: { readonly records: Pick<ExperimentRecords, 'get' | 'save'>;
      readonly env: Pick<Env, 'nowMs'> },
    name: ExperimentName,
    experiment: BackgroundExperiment,
  ) {
    this.#records = records
    this.#env = env
    this.#name = name
    this.#experiment = experiment
  }

  get experiment(): BackgroundExperiment {
    return this.#experiment
  }

  /** Durable when it resolves. An experiment that is over stays as it is. */
  async note(event: ExperimentEvent): Promise<void> {
    this.#waiting.push(event)
    // What waits is written by the save after the one in progress.
    if (this.#saving !== undefined) await this.#saving.catch(() => {})
    this.#saving ??= this.#save().finally(() => {
      this.#saving = undefined
    })
    await this.#saving
  }

  async #save(): Promise<void> {
    const events = this.#waiting
    this.#waiting = []
    if (events.length === 0) return
    await changeFresh(async () => {
      try {
        const after = progressAfter(this.#experiment, events, this.#env.nowMs())
        if (after.version === this.#experiment.version) return
        this.#experiment = await this.#records.save(this.#name, this.#experiment, after)
      } catch (error) {
        if (HeddleError.from(error).code === 'stale') await this.#read()
        throw error
      }
    })
  }

  async #read(): Promise<void> {
    const found = await this.#records.get(this.#name)
    if (found === undefined) throw new HeddleError('not_found', 'There is no such experiment.')
    this.#experiment = found
  }

  get isOpen(): boolean {
    return isOpen(this.#experiment)
  }
}

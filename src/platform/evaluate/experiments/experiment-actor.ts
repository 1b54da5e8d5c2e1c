/**
 * The experiment actor: carries one experiment out. It keeps nothing: the record of the experiment
 * says how far it is, so that the next owner goes on.
 */

import { Backoff } from '../../../../cluster/index.ts'
import type { Actor, ActorContext, ActorKind, ActorWire, Env,
  Turn } from '../../../../cluster/index.ts'
import { HeddleError, ignoreNotFound } from '../../../errors.ts'
import { rawValues } from '../../../json/index.ts'
import { isOpen } from './background-experiment.ts'
import { runExperiment } from './experiment-pass.ts'
import type { ExperimentEngine } from './experiment-pass.ts'
import type { ExperimentName } from './experiment-records.ts'
import { ProgressKeeper } from './progress-keeper.ts'

/** Name of the actor kind. The id of each actor is that of its experiment. */
export const experimentKindName = 'experiment'

/** A command to an experiment: it is listed, and goes on or was cancelled. */
export interface ExperimentCommand {
  readonly kind: 'look'
  readonly listedMs: number
}

/** Ports of the experiments of one member. */
export interface ExperimentActorParts {
  /** Undefined until the platform is open, and when it closes. */
  readonly engine: () => ExperimentEngine | undefined
  readonly env: Env
}

/** All commands and replies are plain data. */
export const experimentWire: ActorWire = { values: rawValues }

/** The actor kind of experiments. */
export function experimentKind(parts: ExperimentActorParts): ActorKind<ExperimentCommand> {
  return { name: experimentKindName, wire: experimentWire,
    create: (context) => new ExperimentActor(context, parts) }
}

/** Pauses after a failure of this server. */
const pauses = { firstMs: 500, longestMs: 60_000 }
/** Time for which a listed experiment may have no record: its request is on its way. */
const unmadeMs = 3_600_000
/** Longest pause before it looks again. */
const longestMs = 3_600_000

class ExperimentActor implements Actor<ExperimentCommand> {
  readonly #context: ActorContext<ExperimentCommand>
  readonly #parts: ExperimentActorParts
  readonly #backoff: Backoff
  readonly #name: ExperimentName
  #listedMs = 0
  #pass: { readonly controller: AbortController; readonly ended: Promise<void> } | undefined
  #stopTimer: (() => void) | undefined

  constructor(context: ActorContext<ExperimentCommand>, parts: ExperimentActorParts) {
    this.#context = context
    this.#parts = parts
    this.#backoff = new Backoff(parts.env, pauses)
    this.#name = { tenant: context.key.tenant, id: context.key.id }
  }

  get occupied(): boolean {
    return this.#pass !== undefined || this.#stopTimer !== undefined
  }

  async activate(): Promise<void> {}

  async receive({ listedMs }: ExperimentCommand): Promise<Turn> {
    this.#listedMs = listedMs
    if (this.#pass === undefined) {
      this.#stopTimer?.()
      this.#begin()
    } else if (await this.#isOver()) {
      this.#pass?.controller.abort(new HeddleError('stale', 'It was cancelled.'))
    }
    return { reply: null }
  }

  /** Cuts work off: the next owner does it again. */
  async passivate(): Promise<void> {
    this.#stopTimer?.()
    this.#stopTimer = undefined
    this.#pass?.controller.abort(new HeddleError('not_owner'))
    await this.#pass?.ended
  }

  async #isOver(): Promise<boolean> {
    const known = await this.#parts.engine()?.records.get(this.#name)
    return known !== undefined && !isOpen(known)
  }

  #begin(): void {
    this.#stopTimer = undefined
    const controller = new AbortController()
    const { signal } = controller
    const ended = this.#run(signal).catch((error: unknown) => {
      if (signal.aborted) return undefined
      // The watch wakes it when the platform is open.
      if (this.#parts.engine() === undefined) return undefined
      this.#parts.env.log.warn('An experiment could not go on; it is tried again.', {
        key: this.#context.key,
        error,
      })
      return this.#backoff.nextMs()
    }).then((pauseMs) => {
      this.#pass = undefined
      if (isCancelled(signal)) this.#begin()
      else if (pauseMs !== undefined && !signal.aborted) {
        this.#stopTimer = this.#parts.env.after(Math.min(pauseMs, longestMs), () => this.#begin())
      }
    })
    this.#pass = { controller, ended }
  }

  /** Goes on as far as it can. Answers after which time to look again. */
  async #run(signal: AbortSignal): Promise<number | undefined> {
    const engine = this.#engine()
    const experiment = await engine.records.get(this.#name)
    if (experiment === undefined) {
      if (engine.cautiousNowMs() - this.#listedMs > unmadeMs) {
        await engine.records.listed.remove(this.#name)
      }
      return undefined
    }
    const keeper = new ProgressKeeper(engine, this.#name, experiment)
    let pauseMs: number | undefined
    if (keeper.isOpen) pauseMs = await this.#resume(engine, keeper, signal)
    this.#backoff.reset()
    if (!keeper.isOpen) await this.#finish(engine, keeper)
    return pauseMs
  }

  async #resume(engine: ExperimentEngine, keeper: ProgressKeeper,
    signal: AbortSignal): Promise<number | undefined> {
    try {
      return await runExperiment(engine, this.#name.tenant, keeper, signal)
    } catch (caught) {
      signal.throwIfAborted()
      const { retry, message } = HeddleError.from(caught)
      await keeper.note({ kind: 'failure', message, isFinal: retry === 'no' })
      if (retry !== 'no') throw caught
      return undefined
    }
  }

  /** Its project has an end, and nobody wakes it any more. */
  async #finish({ records, projects }: ExperimentEngine,
    { experiment: { project, finishedMs } }: ProgressKeeper): Promise<void> {
    await projects.patch(this.#name.tenant, project, { endMs: finishedMs }).catch(ignoreNotFound)
    await records.listed.remove(this.#name)
  }

  #engine(): ExperimentEngine {
    const engine = this.#parts.engine()
    if (engine === undefined) throw new HeddleError('unavailable')
    return engine
  }
}

/** True if the pass was cut off by a cancel, after which there is an end to note. */
function isCancelled({ aborted, reason }: AbortSignal): boolean {
  return aborted && HeddleError.from(reason).code === 'stale'
}

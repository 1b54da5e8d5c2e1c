/** Replays over records, executed by the member that is asked. */

import { Backoff, limitConcurrency } from '../../../cluster/index.ts'
import type { Env } from '../../../cluster/index.ts'
import { HeddleError, ignoreStale } from '../../errors.ts'
import { PriceList, pricerOf } from '../../platform/index.ts'
import type { Platform } from '../../platform/index.ts'
import type { Deployment } from '../deployment.ts'
import type { Deployments } from '../deployments.ts'
import { namespaceOf } from '../namespace.ts'
import { removeReplay } from '../records/replay-removal.ts'
import type { ReplayStores } from '../records/replay-removal.ts'
import { abortable } from '../serving/abortable.ts'
import type { Serving } from '../serving/serving.ts'
import { recordingsOf } from './recorded-run.ts'
import type { RunPlaceName } from './recorded-run.ts'
import { ReplayProcesses } from './replay-processes.ts'
import type { Replay, ReplayRequest } from './replay-record.ts'
import { replayRun, unreplayable } from './replay-run.ts'
import type { ReplayedVerdict } from './replay-run.ts'
import { sampleOf } from './replay-sample.ts'
import type { SampleParts } from './replay-sample.ts'
import type { Replays } from './replays.ts'
import { noReplay, StoredReplays } from './stored-replays.ts'
import type { KeptVerdict } from './stored-replays.ts'

/** Ports of the replays of a member. */
export interface ReplaysParts extends ReplayStores, SampleParts {
  readonly records: Pick<Deployments, 'revision'>
  readonly serving: Pick<Serving, 'openReplay'>
  readonly prices: Pick<Platform['prices'], 'list'>
  readonly env: Pick<Env, 'nowMs' | 'monotonicMs' | 'after' | 'uuid' | 'random' | 'log'>
  /** Keeps the verdicts as an experiment. Resolves with `null` if there is nothing to keep. */
  readonly keep: (replay: Replay, namespace: string,
    runs: readonly KeptVerdict[]) => Promise<KeptExperiment | null>
  /** The id of this member, and whether it or another one is there. */
  readonly self: () => string
  isMember(id: string): boolean
}

/** The experiment of a replay. */
export interface KeptExperiment {
  readonly id: string
  /** Removes it with its dataset. */
  discard(): Promise<void>
}

/** The replays of a member, which it ends when it is closed. */
export interface MemberReplays extends Replays {
  close(): Promise<void>
}

/** Replays that a member executes at a time. */
const atOnce = 2
/** Tries of a replay while faults come that pass, and the pauses between them. */
const triesMax = 8
const pauses = { firstMs: 250, longestMs: 10_000 }

/** Opens the replays of a member. Nothing is read yet. */
export function replaysOver(parts: ReplaysParts): MemberReplays {
  return new ReplaysOver(parts)
}

class ReplaysOver implements MemberReplays {
  readonly #parts: ReplaysParts
  readonly #stored: StoredReplays
  /** Name of this process: one that starts anew does not take itself for the one before. */
  readonly #process: string
  readonly #inTurn = limitConcurrency(atOnce)
  /** Ids of those that this process begins or executes. */
  readonly #own = new Set<string>()
  readonly #under = new Map<string,
    { readonly stop: AbortController; readonly ended: Promise<void> }>()
  readonly #closing = new AbortController()

  constructor(parts: ReplaysParts) {
    this.#parts = parts
    this.#stored = new StoredReplays(parts)
    this.#process = parts.env.uuid()
  }

  async start(deployment: Deployment, request: ReplayRequest, by: string): Promise<Replay> {
    const { records, env } = this.#parts
    const revision = await records.revision(deployment, request.revision)
    if (revision.state !== 'ready' && revision.state !== 'uploading') {
      throw new HeddleError('not_ready', `${revision.name} is ${revision.state}.`)
    }
    for (const each of await this.#stored.list(deployment.id)) {
      if (each.phase !== 'running') continue
      if (this.#isAlive(each)) throw isUnderWay()
      // Nobody has asked for it since it ended unseen: the new one is begun in its place.
      await this.#stored.change(each, { phase: 'failed', endedAtMs: env.nowMs(),
        reason: 'Its member ended, and another replay was begun.' }).catch(ignoreStale)
    }
    const replay: Replay = { id: env.uuid(), deploymentId: deployment.id,
      deployment: deployment.name, by, request, phase: 'running', reason: null,
      startedAtMs: env.nowMs(), endedAtMs: null, runner: this.#runner, chosen: null, passed: 0,
      experiment: null }
    this.#own.add(replay.id)
    await this.#stored.add(replay).catch((error: unknown) => {
      this.#own.delete(replay.id)
      throw HeddleError.from(error).code === 'exists' ? isUnderWay() : error
    })
    this.#begin(deployment, replay)
    return replay
  }

  list(deployment: Deployment): Promise<readonly Replay[]> {
    return this.#stored.list(deployment.id)
  }

  async get(deployment: Deployment, id: string) {
    const replay = await this.#found(deployment, id)
    if (replay.phase !== 'running' || this.#isAlive(replay)) {
      return await this.#stored.view(replay)
    }
    // Its member has died, or could not write how it ended. The first one that is asked goes on.
    this.#own.add(id)
    const taken = await this.#stored.change(replay, { runner: this.#runner })
      .catch((error: unknown) => {
        this.#own.delete(id)
        return ignoreStale(error)
      })
    if (taken) this.#begin(deployment, taken)
    return await this.#stored.view(taken ?? await this.#found(deployment, id))
  }

  async verdicts(deployment: Deployment, id: string) {
    return await this.#stored.verdicts((await this.#found(deployment, id)).id)
  }

  async cancel(deployment: Deployment, id: string): Promise<Replay> {
    const replay = await this.#found(deployment, id)
    if (replay.phase !== 'running') return replay
    const cancelled = await this.#stored.change(replay, { phase: 'cancelled',
      endedAtMs: this.#parts.env.nowMs() })
    this.#under.get(id)?.stop.abort(wasCancelled())
    return cancelled
  }

  async close(): Promise<void> {
    const reason = new HeddleError('unavailable', 'The server is stopped.')
    this.#closing.abort(reason)
    for (const { stop } of this.#under.values()) stop.abort(reason)
    await Promise.all([...this.#under.values()].map(({ ended }) => ended))
  }

  get #runner(): string {
    return `${this.#parts.self()}/${this.#process}`
  }

  #isAlive({ id, runner }: Replay): boolean {
    if (runner === null) return false
    const [member = '', process] = runner.split('/')
    return member === this.#parts.self()
      ? process === this.#process && this.#own.has(id)
      : this.#parts.isMember(member)
  }

  async #found({ id: deploymentId }: Deployment, id: string): Promise<Replay> {
    const replay = await this.#stored.get(id)
    if (replay?.deploymentId !== deploymentId) throw noReplay()
    return replay
  }

  #begin(deployment: Deployment, replay: Replay): void {
    const stop = new AbortController()
    const ended = this.#inTurn(() => this.#carriedOut(deployment, replay, stop.signal))
      .catch((error: unknown) => this.#fail(replay, error))
      .finally(() => {
        this.#under.delete(replay.id)
        this.#own.delete(replay.id)
      })
    this.#under.set(replay.id, { stop, ended })
  }

  /** Goes on after faults that pass, as of a store, with the verdicts that are there. */
  async #carriedOut(deployment: Deployment, begun: Replay, signal: AbortSignal): Promise<void> {
    const backoff = new Backoff(this.#parts.env, pauses)
    let replay = begun
    for (let tries = 1;; tries++) {
      try {
        if (tries > 1) replay = await this.#requireRunning(replay)
        return await this.#work(deployment, replay, signal)
      } catch (error) {
        const { retry } = HeddleError.from(error)
        if (signal.aborted || retry === 'no' || tries === triesMax) throw error
        this.#parts.env.log.info('A replay goes on after a pause.', { error, replay: replay.id })
      }
      await abortable(backoff.pause(), signal)
    }
  }

  async #work(deployment: Deployment, begun: Replay, signal: AbortSignal): Promise<void> {
    const parts = { ...this.#parts, recordings: recordingsOf(this.#parts.recordings, deployment) }
    const tenant = namespaceOf({ tenant: deployment.tenant, deployment: deployment.name })
    let replay = begun
    if (replay.chosen === null) {
      const sample = await sampleOf(parts, tenant, replay.request, signal)
      replay = await this.#stored.change(replay, sample)
    }
    const done = new Set((await this.#stored.verdicts(replay.id)).map(({ runId }) => runId))
    const price = pricerOf(new PriceList(await parts.prices.list(tenant)))
    const processes = new ReplayProcesses({ serving: parts.serving, deployment, signal,
      limitMs: replay.request.limitMs, env: parts.env })
    try {
      for (const each of replay.chosen ?? []) {
        const [threadId = '', runId = ''] = each.split('/')
        if (done.has(runId)) continue
        signal.throwIfAborted()
        const made = await this.#verdictOf(
          (place) => replayRun({ ...parts, price }, processes, begun.request, place),
          { id: replay.id, place: { tenant, threadId, runId }, signal },
        )
        signal.throwIfAborted()
        await this.#requireRunning(replay)
        await this.#stored.addVerdict(replay.id, made)
        await this.#requireRunning(replay)
      }
    } finally {
      await processes.close()
    }
    await this.#keep(await this.#requireRunning(replay), tenant)
  }

  /** Keeps the verdicts as an experiment, unless the replay was cancelled. */
  async #keep(replay: Replay, tenant: string): Promise<void> {
    const { keep, env } = this.#parts
    const runs = await this.#stored.kept(replay.id)
    const experiment = await keep(replay, tenant, runs).catch((error: unknown) => {
      env.log.warn('A replay cannot be kept as an experiment.', { error, replay: replay.id })
      return null
    })
    try {
      await this.#stored.change(replay, { phase: 'done', endedAtMs: env.nowMs(),
        experiment: experiment?.id ?? null })
    } catch (error) {
      if (HeddleError.from(error).code === 'stale') await experiment?.discard()
      throw error
    }
  }

  /** The verdict on one run, also if something goes wrong with it. */
  async #verdictOf(replayed: (place: RunPlaceName) => Promise<ReplayedVerdict>,
    { id, place, signal }: { readonly id: string; readonly place: RunPlaceName;
      readonly signal: AbortSignal }): Promise<ReplayedVerdict> {
    try {
      return await replayed(place)
    } catch (error) {
      const { code, retry, message } = HeddleError.from(error)
      // Faults of stores pass: the replay is begun again, and not the run left out.
      if (signal.aborted || (retry !== 'no' && code !== 'internal')) throw error
      this.#parts.env.log.warn('A run cannot be replayed.', { error, replay: id })
      return unreplayable(place, code === 'internal' ? 'It cannot be compared.' : message)
    }
  }

  /** Another member may have cancelled it, or somebody removed it with its verdicts. */
  async #requireRunning({ id, runner }: Replay): Promise<Replay> {
    const now = await this.#stored.get(id)
    // No record leads any more to what was written meanwhile.
    if (now === undefined) await removeReplay(this.#parts, id)
    if (now?.phase === 'running' && now.runner === runner) return now
    throw wasCancelled()
  }

  async #fail(replay: Replay, error: unknown): Promise<void> {
    const { code, message } = HeddleError.from(error)
    // A member that is stopped leaves it to the next one.
    if (this.#closing.signal.aborted || code === 'stale') return
    this.#parts.env.log.warn('A replay failed.', { error, replay: replay.id })
    await this.#stored.change(replay, { phase: 'failed', reason: message,
      endedAtMs: this.#parts.env.nowMs() }).catch(() => {})
  }
}

function isUnderWay(): HeddleError {
  return new HeddleError('busy', 'A replay of this deployment is under way: wait for it, or ' +
    'cancel it.')
}

function wasCancelled(): HeddleError {
  return new HeddleError('stale', 'The replay was cancelled.')
}

/** Wakes actors of this member: threads that were left unfinished, and what is due. */

import { Backoff, limitConcurrency, withTimeout } from '../../cluster/index.ts'
import type { ActivationTable, ActorKey, Env } from '../../cluster/index.ts'
import { HeddleError } from '../errors.ts'
import type { ErrorCode } from '../errors.ts'
import type { UnfinishedThread } from '../search/index.ts'
import type { Recoveries } from '../thread/index.ts'
import type { Backend, HostedActors } from './backends/backend.ts'
import { dueCronActors, dueThreadActors, DueWakes } from './due-wakes.ts'

/**
 * Pauses before a thread is woken again. It has runs to continue, and perhaps no client asks for
 * it.
 */
const wakeAgain = { firstMs: 1_000, longestMs: 60_000 }

/** Errors that say nothing about the thread. */
const passing: readonly ErrorCode[] = ['unavailable', 'full', 'busy', 'not_owner']

/** Unfinished threads that are woken at once. */
const wokenAtOnce = 8

/** Crons that are fired at once. Each waits until its run is on disk. */
const firedAtOnce = 64
/** Milliseconds for which other crons wait for one that fires. */
const firingMs = 10_000

/** Parts with which actors are woken. */
export interface ActorWakingParts extends Pick<Backend, 'due' | 'dueCrons'> {
  readonly env: Env
  readonly activations: Pick<ActivationTable, 'ask' | 'wake'>
  readonly recoveries: Recoveries
  /** The epoch in which this member owns an actor; undefined for actors of others. */
  epochOf(key: ActorKey): number | undefined
}

type Wake = (key: ActorKey, epoch: number) => Promise<void>

/** Wakes of actors, which end when it is closed. */
export interface ActorWaking extends Pick<HostedActors, 'wake' | 'opened' | 'wakeAt'> {
  /** Notes that a thread is due at this time. */
  noteThread(atMs: number): void
  /** Notes that a cron is due at this time. */
  noteCron(atMs: number): void
  close(): void
}

/** Wakes actors that this member owns. Those of other members are left to them. */
export function openWaking(parts: ActorWakingParts): ActorWaking {
  const dueThreads = wakesOfThreads(parts)
  const dueCrons = wakesOfCrons(parts)
  const unfinished = wakesOfUnfinished(parts)
  return {
    wake: unfinished.wake,
    opened: unfinished.opened,
    noteThread: (atMs) => dueThreads.note(atMs),
    noteCron: (atMs) => dueCrons.note(atMs),
    wakeAt: (atMs) => {
      dueThreads.note(atMs)
      dueCrons.note(atMs)
    },
    close: () => {
      unfinished.close()
      dueThreads.close()
      dueCrons.close()
    },
  }
}

function wakesOfThreads({ env, due, activations, epochOf }: ActorWakingParts): DueWakes {
  return new DueWakes({ env, due: dueThreadActors(due), wake: async (key) => {
    const epoch = epochOf(key)
    if (epoch !== undefined) await activations.wake(key, epoch)
  } })
}

function wakesOfCrons({ env, dueCrons, activations, epochOf }: ActorWakingParts): DueWakes {
  const due = dueCronActors(dueCrons, env)
  return new DueWakes({ env, due, atOnce: firedAtOnce, wake: async (key) => {
    const epoch = epochOf(key)
    if (epoch === undefined) return
    // A firing that takes longer goes on, and others have their turn.
    await withTimeout(env, firingMs, activations.ask(key, epoch, { kind: 'look' }),
      () => new HeddleError('unavailable', 'A cron is still being fired.'))
  } })
}

/** Wakes threads until each is awake, closed, or owned by another member. */
function wakesOfUnfinished({ env, activations, epochOf, recoveries }: ActorWakingParts) {
  let closing = false
  const wakeOne = async (key: ActorKey, ended: PromiseWithResolvers<void>, wake: Wake,
    backoff = new Backoff(env, wakeAgain)) => {
    const epoch = epochOf(key)
    if (closing || epoch === undefined) return ended.reject(new HeddleError('not_owner'))
    try {
      await wake(key, epoch)
      ended.resolve()
    } catch (error) {
      const { code } = HeddleError.from(error)
      // Runs of a removed deployment are never executed.
      if (code === 'not_found') return ended.resolve()
      if (closing) return ended.reject(error)
      // One thread that is broken does not keep searches of all others waiting.
      if (!passing.includes(code)) ended.resolve()
      env.log.error('A thread could not be woken; it is tried again.', { key, error })
      env.after(backoff.nextMs(), () => void wakeOne(key, ended, wake, backoff))
    }
  }
  /**
   * Resolves when each was tried once, or with `untilAwake` when none is tried any more. Then it
   * throws `not_owner` if one was given back first: its row lags still.
   */
  const wakeAll = async (threads: readonly UnfinishedThread[], untilAwake: boolean) => {
    const inTurn = limitConcurrency(wokenAtOnce)
    const plain: Wake = (key, epoch) => activations.wake(key, epoch)
    // Searches of all tenants wait for threads that an earlier version marked, so the quota of one
    // tenant must not prevent it.
    const recovering: Wake = (key, epoch) =>
      recoveries.during(key.tenant, key.id, () => activations.wake(key, epoch))
    await Promise.all(threads.map(({ tenant, threadId: id }) => {
      const ended = Promise.withResolvers<void>()
      ended.promise.catch(() => {})
      const tried = inTurn(() =>
        wakeOne({ kind: 'thread', tenant, id }, ended, untilAwake ? recovering : plain)
      )
      return untilAwake ? ended.promise : tried
    }))
  }
  return {
    wake: (threads: readonly UnfinishedThread[]) => wakeAll(threads, false),
    opened: (threads: readonly UnfinishedThread[]) => wakeAll(threads, true),
    close: () => closing = true,
  }
}

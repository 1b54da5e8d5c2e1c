/** The stages of a server, with the time that each may take. */

import { createLifecycle } from '../../../cluster/index.ts'
import type { Env } from '../../../cluster/index.ts'
import type { Settings } from '../../settings/index.ts'

/** Time for a start. A longer one never succeeds: a disk hangs, or a graph's own code. */
const startMs = 60_000
/** Time to open the store. It is longer, as another member may be making the tables first. */
const storeStartMs = 240_000

/** Share of the shutdown time that each stage may take, in the order in which they end. */
const endingShares = { shards: 0.51, metrics: 0.01, keys: 0.01, door: 0.05, runs: 0.14,
  routes: 0.01, actors: 0.1, graphs: 0.03, deployments: 0.02, platform: 0.02, store: 0.1,
  traces: 0.02 } as const

/** Adds a stage on top of those that were started. */
export type StartStage = <T>(name: keyof typeof endingShares, start: () => T | Promise<T>,
  stop: (value: T, deadline: AbortSignal) => unknown) => Promise<T>

/** The stages of a server that is starting. */
export interface Stages {
  readonly start: StartStage
  /** Stops all, the top one first. */
  readonly stop: () => Promise<void>
}

/** A server without any stage yet. */
export function noStages({ drainMs, cassandra }: Settings, env: Env): Stages {
  const lifecycle = createLifecycle(env)
  return {
    stop: lifecycle.stop,
    start: (name, start, stop) =>
      lifecycle.start(name, { start, stop, stopMs: drainMs * endingShares[name],
        startMs: name === 'store' && cassandra !== null ? storeStartMs : startMs }),
  }
}

/** Share of the time for giving shards back after which runs in progress are cut short. */
const releaseShare = 0.8

/** Milliseconds for giving shards back after which runs in progress are cut short. */
export function releaseMsOf({ drainMs }: Settings): number {
  return drainMs * endingShares.shards * releaseShare
}

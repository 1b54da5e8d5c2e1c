/** The timestamps of writes, by which Cassandra decides which of two writes of a cell is newer. */

import { policies } from 'cassandra-driver'

import type { Env } from '../../../../cluster/index.ts'
import { cautiousClock } from '../../../limits/index.ts'

/** Drift from the clock after which the driver logs a warning, and the time between warnings. */
const driftMs = 1_000

/**
 * Timestamps that increase with each write. They follow the cautious clock: cells that are written
 * while the clock of the machine is ahead would outlive each deletion until that time has come.
 */
export class WriteTimes extends policies.timestampGeneration.MonotonicTimestampGenerator {
  readonly #nowMs: () => number

  constructor(env: Pick<Env, 'nowMs' | 'monotonicMs'>) {
    super(driftMs, driftMs)
    this.#nowMs = cautiousClock(env)
  }

  /** Milliseconds since 1970. */
  override getDate(): number {
    return this.#nowMs()
  }
}

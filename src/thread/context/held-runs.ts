/**
 * The stateless runs that a member keeps back from the disk while their callers wait: searches of
 * them write them first, and quotas count them.
 */

import { tenantOfNamespace } from '../../limits/index.ts'
import type { HeldBack } from '../log/held-back.ts'
import type { Inputs } from './input-quota.ts'

/** A run that is to be kept back. */
export interface HeldRun {
  readonly namespace: string
  /** The room of its tenant, which it is charged to. */
  readonly inputs: Inputs
  /** Writes it. Resolves when it is on disk. */
  write(): Promise<void>
}

/** The runs that one member keeps back. */
export class HeldRuns {
  readonly #runs = new Set<HeldRun>()

  /** The account of a run that is kept back from now on. */
  begin(run: HeldRun): HeldBack {
    this.#runs.add(run)
    return {
      takes: (bytes) => {
        try {
          run.inputs.take(run, bytes)
          return true
        } catch {
          return false
        }
      },
      end: () => {
        this.#runs.delete(run)
        run.inputs.hold(run, 0)
      },
    }
  }

  /** Count of those that are kept back now. */
  get size(): number {
    return this.#runs.size
  }

  /** Count of a tenant's, in all of its namespaces. */
  countOf(tenant: string): number {
    return [...this.#runs].filter(({ namespace }) => tenantOfNamespace(namespace) === tenant).length
  }

  /** Resolves when those of a namespace that are kept back now are on disk, or are over. */
  async written(namespace: string): Promise<void> {
    const runs = [...this.#runs].filter((run) => run.namespace === namespace)
    await Promise.allSettled(runs.map((run) => run.write()))
  }
}

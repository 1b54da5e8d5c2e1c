/** One step of a deletion: finds some traces, removes them, and notes how far it is. */

import type { Env, FairSemaphore } from '../../../../cluster/index.ts'
import { HeddleError } from '../../../errors.ts'
import type { CautiousClock } from '../../../limits/index.ts'
import type { Calls } from '../../calls/calls.ts'
import { enterTurn } from '../../calls/in-turn.ts'
import type { SpanWrites } from '../../ingest/ingest-call.ts'
import type { Projects } from '../../records/projects/project.ts'
import type { DeletionReads } from './deletable-traces.ts'
import type { DeletionName, DeletionRecords } from './deletion-records.ts'
import { nextProgress } from './trace-deletion.ts'
import type { DeletionEvent, TraceDeletion } from './trace-deletion.ts'

/** Stores and queries that deletions of one member work with. */
export interface DeletionParts {
  readonly records: DeletionRecords
  readonly projects: Pick<Projects, 'get'>
  readonly query: () => Pick<Calls<DeletionReads>, 'deletable'>
  readonly ingest: () => Pick<Calls<SpanWrites>, 'remove'>
  /** Steps of all tenants take turns here. */
  readonly turns: FairSemaphore
  readonly env: Pick<Env, 'nowMs'>
  /** The clock by which entries without a record expire. */
  readonly cautiousNowMs: CautiousClock
}

/** Traces of a step. It ends before it is cancelled. */
const tracesOf = 200

/** Goes one step on. Repeated after a failure, it removes the same. */
export async function deleteSome(parts: DeletionParts, tenant: string, deletion: TraceDeletion,
  signal: AbortSignal): Promise<void> {
  const { projects, query, ingest, turns } = parts
  const leave = await enterTurn(turns, tenant, signal)
  try {
    const { conditions, arrivedBeforeUs, after } = deletion
    const found = await query().deletable({ ...conditions, tenant, arrivedBeforeUs, after,
      projects: await projects.get(tenant, deletion.projects), order: 'oldest', limit: tracesOf,
      version: 1 }, { signal })
    const { traces } = found
    if (traces.length > 0) await ingest().remove({ tenant, what: { kind: 'traces', traces } })
    await note(parts, tenant, deletion, { ...found, kind: 'slice', traces: traces.length })
  } finally {
    leave()
  }
}

/** Notes a failure. True if it is final. */
export async function noteFailure(parts: Pick<DeletionParts, 'records' | 'env'>, tenant: string,
  deletion: TraceDeletion, caught: unknown): Promise<boolean> {
  const { retry, message } = HeddleError.from(caught)
  const isFinal = retry === 'no'
  if (isFinal || deletion.error !== message) {
    await note(parts, tenant, deletion, { kind: 'failure', message, isFinal })
  }
  return isFinal
}

/** Notes an event. A deletion that was cancelled meanwhile stays cancelled. */
async function note({ records, env }: Pick<DeletionParts, 'records' | 'env'>, tenant: string,
  deletion: TraceDeletion, event: DeletionEvent): Promise<void> {
  const name: DeletionName = { tenant, id: deletion.id }
  try {
    await records.save(name, deletion, nextProgress(deletion, event, env.nowMs()))
  } catch (error) {
    if (HeddleError.from(error).code !== 'stale') throw error
  }
}

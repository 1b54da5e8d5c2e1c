/** Changes of examples in the thread that also takes traces in: few at a time of each tenant. */

import { FairSemaphore } from '../../../../cluster/index.ts'
import type { Env } from '../../../../cluster/index.ts'
import { cautiousClock } from '../../../limits/index.ts'
import type { SpanStore } from '../../spans/span-port.ts'
import type { Calls } from '../../calls/calls.ts'
import { inTurn } from '../../calls/in-turn.ts'
import type { LongBodies } from '../../calls/long-bodies.ts'
import { exampleWrites } from './example-calls.ts'
import type { ExampleWrites, ExamplesJob } from './example-calls.ts'
import type { DatasetWrites } from './example-writer.ts'
import type { SpanWriteNeeds } from '../../ingest/ingest-call.ts'

/** Changes that are made at once: each has a body in memory. */
const atOnce = { inAll: 4, each: 2, waiting: 1_000, waitingEach: 200,
  full: 'Too many changes of datasets wait: try again in a second.' } as const

/** Dependencies of the changes of examples in the ingest thread. */
export interface ExampleTurnParts {
  readonly longBodies: LongBodies<ExamplesJob>
  readonly store: SpanStore
  readonly needs: Calls<DatasetWrites & Pick<SpanWriteNeeds, 'projects'>>
  readonly env: Env
}

/** The handlers, each in its turn. `finished` knows what closing has to wait for. */
export function examplesInTurn({ store, needs, env: given, longBodies }: ExampleTurnParts,
  finished: <T>(work: Promise<T>) => Promise<T>): ExampleWrites {
  const turns = new FairSemaphore(atOnce)
  // Versions are ordered by their times.
  const env = { ...given, nowMs: cautiousClock(given) }
  const writes = exampleWrites({
    store,
    needs,
    env,
    longBodies,
    projectIds: async (tenant, ids) =>
      (await needs.projects({ tenant, names: [], ids })).map(({ id }) => id),
  })
  const taken = <Call extends { readonly tenant: string }, Answer>(
    work: (call: Call) => Promise<Answer>,
  ) =>
  (call: Call): Promise<Answer> => finished(inTurn(turns, call.tenant, () => work(call)))
  return {
    changeExamples: taken(writes.changeExamples),
    addExamples: taken(writes.addExamples),
    validateExamples: taken(writes.validateExamples),
    ensureExamples: taken(writes.ensureExamples),
    readUpload: taken(writes.readUpload),
    addUpload: taken(writes.addUpload),
    dropExamples: taken(writes.dropExamples),
  }
}

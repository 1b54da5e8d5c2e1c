/** Finds runs of this server that have not ended. No store has them, so their threads are asked. */

import { ownHead } from '../../ingest/own-runs.ts'
import type { SpanPort } from '../../spans/span-port.ts'
import type { SpanHead, Uuid } from '../../spans/span.ts'
import type { Calls } from '../../calls/calls.ts'
import type { QueryNeeds } from './own-run-calls.ts'

type Reads = Pick<SpanPort, 'scan' | 'locate' | 'heads' | 'trace' | 'files'>

/** A store in which a question finds running runs by their ids as well. */
export function withRunningRuns(store: Reads,
  needs: Pick<Calls<QueryNeeds>, 'runningRuns'>): Reads {
  const running = new Map<Uuid, SpanHead>()
  return {
    scan: (plan, after) => store.scan(plan, after),
    files: (place, name) => store.files(place, name),
    async locate(tenant, ids) {
      const places = await store.locate(tenant, ids)
      const known = new Set(places.map(({ id }) => id))
      const missing = ids.filter((id) => !known.has(id))
      if (missing.length === 0) return places
      const found = await needs.runningRuns({ tenant, ids: missing })
      const heads = found.map(({ run, project }) => ownHead(tenant, project, run))
      for (const head of heads) running.set(head.id, head)
      return [...places, ...heads]
    },
    async heads(places) {
      const stored = await store.heads(places)
      const known = new Set(stored.map(({ id }) => id))
      return [...stored, ...places.flatMap(({ id }) => known.has(id) ? [] : running.get(id) ?? [])]
    },
    async *trace(place) {
      let isStored = false
      for await (const heads of store.trace(place)) {
        isStored ||= heads.length > 0
        yield heads
      }
      const head = running.get(place.trace)
      if (!isStored && head !== undefined) yield [head]
    },
  }
}

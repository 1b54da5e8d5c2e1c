/** Writes and removes recorded calls of runs. Runs in the ingest thread. */

import { LRUCache } from '../../../cluster/index.ts'
import type { RollUpPort } from '../spans/roll-up-port.ts'
import { noFields } from '../spans/span.ts'
import type { SpanPlace, Uuid } from '../spans/span.ts'
import { everySpan } from '../spans/span-port.ts'
import type { SpanPort } from '../spans/span-port.ts'
import { termOf } from '../spans/term.ts'
import { executionPlace, recordingPlace,
  recordingsProject } from '../records/recordings/recording-place.ts'
import type { RecordingBlock, RemovedRecordings } from './ingest-call.ts'

/** Removed runs that are known without asking the store. */
const goneMax = 10_000
/** Projects that are known to have no recordings. */
const bareMax = 10_000
/** Hour after all others. */
const never = 2 ** 31 - 1
/** Recordings of a tenant that are removed together. */
const removedTogether = 500
const blockType = 'application/zstd'

/** Reads and writes of recordings. */
type RecordingStore = Pick<SpanPort, 'write' | 'remove' | 'scan'> & Pick<RollUpPort, 'hours'>

/** The recordings of all tenants. */
export class RecordingWriter {
  readonly #store: RecordingStore
  readonly #nextUs: () => number
  readonly #gone = new LRUCache<string, true>({ max: goneMax })
  /** Projects without recordings; undefined where others may write some. */
  readonly #bare: LRUCache<string, true> | undefined

  #puts = 0

  /** `isAlone`: true if nobody else writes to the store. */
  constructor(store: RecordingStore, nextUs: () => number, isAlone = false) {
    this.#store = store
    this.#nextUs = nextUs
    this.#bare = isAlone ? new LRUCache({ max: bareMax }) : undefined
  }

  /** Durable when it resolves. A block of a removed run is dropped. */
  async put(block: RecordingBlock): Promise<void> {
    const { tenant, deployment, runId, startedAtMs, no, body, label, timeToLiveS } = block
    if (this.#gone.has(keyOf(tenant, runId))) return
    const project = recordingsProject(deployment)
    this.#puts++
    this.#bare?.delete(keyOf(tenant, project))
    const place = executionPlace(tenant, project, runId, startedAtMs)
    const { removed } = await this.#store.write({
      tenant,
      // The last block has the label, and wins over those before it.
      spans: [{ place, kind: label === undefined ? 'post' : 'patch', arrivedUs: this.#nextUs(),
        fields: { ...noFields, root: false, name: label ?? 'calls', type: 'chain' }, block: null,
        timeToLiveS, ...label === undefined
        ? { terms: [], indexed: 0 }
        : { terms: [termOf.recordedRun], indexed: 1 } }],
      blocks: [],
      files: [{ project, owner: place.id, ownerTrace: place.trace, name: String(no),
        type: blockType, data: body }],
      // Each recording has the life that its deployment had for it.
      timeToLiveS: new Map(),
    })
    // A store may write the files of what is removed, where nobody finds them.
    if (removed.length > 0 || this.#gone.has(keyOf(tenant, runId))) {
      await this.#removeRuns(tenant, project, [runId])
    }
  }

  /**
   * Resolves when the recordings cannot be found any more. The removal is noted before, so that a
   * block which is under way revives nothing. A tenant that has never recorded costs one read of
   * each project, in a store of this process only the first time.
   */
  async remove({ tenant, deployment, runs }: RemovedRecordings): Promise<void> {
    for (const run of runs) this.#gone.set(keyOf(tenant, run), true)
    await Promise.all(
      projectsOf(deployment).map((project) => this.#removeIfAny(tenant, project, runs)),
    )
  }

  /**
   * Removes all recordings of a deployment in its namespace, and rejects later ones. Returns the
   * number of runs that had some.
   */
  async removeAll(
    { tenant, deployment }: { readonly tenant: string; readonly deployment: string },
  ): Promise<number> {
    let count = 0
    for (const project of projectsOf(deployment)) {
      for (;;) {
        const traces = await this.#someTraces(tenant, project)
        if (traces.length === 0) break
        await this.#store.remove(tenant, { kind: 'traces', traces })
        count += traces.length
      }
    }
    await this.#store.remove(tenant, { kind: 'project', project: recordingsProject(deployment) })
    return count
  }

  async #removeIfAny(tenant: string, project: Uuid, runs: readonly string[]): Promise<void> {
    const key = keyOf(tenant, project)
    if (this.#bare?.has(key)) return
    const before = this.#puts
    const hours = await this.#store.hours(tenant, project, 0, never)
    if (hours.length > 0) return await this.#removeRuns(tenant, project, runs)
    // A block may have come while this was read.
    if (this.#puts === before) this.#bare?.set(key, true)
  }

  async #someTraces(tenant: string, project: Uuid): Promise<readonly SpanPlace[]> {
    const found = new Map<Uuid, SpanPlace>()
    const plan = { tenant, projects: [project], fromUs: -Infinity, toUs: Infinity, order: 'oldest',
      ...everySpan } as const
    for await (const { heads } of this.#store.scan(plan)) {
      for (const head of heads) found.set(head.trace, head)
      if (found.size >= removedTogether) break
    }
    return [...found.values()]
  }

  async #removeRuns(tenant: string, project: Uuid, runs: readonly string[]): Promise<void> {
    await this.#store.remove(tenant, { kind: 'traces',
      traces: runs.map((run) => recordingPlace(tenant, project, run)) })
  }
}

/** The projects that may have recordings of a deployment: earlier versions wrote by its name. */
function projectsOf(deployment: string | undefined): readonly Uuid[] {
  return [...new Set([recordingsProject(deployment), recordingsProject()])]
}

function keyOf(tenant: string, id: string): string {
  return `${id} ${tenant}`
}

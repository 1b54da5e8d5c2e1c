/**
 * Events of deployments. The newest one is in a record, so that each has one number; it is written
 * as a document before the next one replaces it. So a reader of an event has missed none before it.
 */

import { FairSemaphore } from '../../../cluster/index.ts'
import type { Env } from '../../../cluster/index.ts'
import { HeddleError, ignoreNotFound, ignoreStale } from '../../errors.ts'
import type { CatalogClient, Document, DocumentPort } from '../../platform/index.ts'
import type { DeploymentEvent, NewEvent, OwedEvent } from '../deployment-event.ts'
import { triesMax } from './beginning.ts'
import { deploymentCatalog, eventCatalog, eventPlace } from './record-places.ts'
import { StoredFields } from './stored-fields.ts'

/** Stores and clock that events are kept with. */
export interface EventParts {
  readonly catalogs: CatalogClient
  readonly documents: DocumentPort
  readonly env: Pick<Env, 'nowMs'>
}

/** Events of a deployment that are kept, about. */
const eventsKept = 10_000
/** So many are removed together. */
const removedTogether = 100
/** Characters of what an event says. */
const dataCharacters = 64 * 1024
/** Events of one deployment are noted one after the other. */
const turnLimits = { inAll: 64, each: 1, waiting: 20_000, waitingEach: 10_000,
  full: 'Too much happens to this deployment at once: ask again in a moment.' }

/** The events of all deployments. All methods throw HeddleError. */
export class DeploymentEvents {
  readonly #parts: EventParts
  readonly #turns = new FairSemaphore(turnLimits)

  constructor(parts: EventParts) {
    this.#parts = parts
  }

  /** `not_found` without the deployment. */
  async note(deployment: string, event: NewEvent): Promise<DeploymentEvent> {
    return (await this.#inTurn(deployment, event))!
  }

  /** Notes an event as `note` does, unless an event with its mark or a later one is noted. */
  async noteOwed(deployment: string, { mark, ...event }: OwedEvent): Promise<void> {
    await this.#inTurn(deployment, event, mark)
  }

  /** Oldest first. None is missing between two that are kept. */
  async list(deployment: string, after: number,
    limit: number): Promise<readonly DeploymentEvent[]> {
    if (limit < 1) return []
    // Before the documents: all events before this one are among them.
    const [record] = await this.#parts.catalogs.get(eventCatalog, [deployment])
    const newest = record && newestIn(record.bodyJson)
    if (newest === undefined || newest.seq <= after) return []
    const found = await this.#parts.documents.listDocuments(eventPlace(deployment), {
      after: keyOf(Math.max(0, after)),
      limit,
    })
    const events = found.map(eventIn)
    const last = events.at(-1)?.seq ?? newest.seq - 1
    return last === newest.seq - 1 && events.length < limit ? [...events, newest] : events
  }

  async drop(deployment: string): Promise<void> {
    await this.#parts.catalogs.delete(eventCatalog, deployment).catch(ignoreNotFound)
    await this.#parts.documents.dropDocuments(eventPlace(deployment))
  }

  async #inTurn(deployment: string, event: NewEvent, mark?: number) {
    const leave = await this.#turns.enter(deployment)
    try {
      return await this.#note(deployment, event, mark)
    } finally {
      leave()
    }
  }

  /** The noted event; undefined if one with this mark or a later one is noted. */
  async #note(deployment: string, { kind, by, data }: NewEvent,
    mark?: number): Promise<DeploymentEvent | undefined> {
    const { catalogs, documents, env } = this.#parts
    const [owner] = await catalogs.get(deploymentCatalog, [deployment])
    if (owner === undefined || new StoredFields(owner.bodyJson).flag('removing')) {
      throw new HeddleError('not_found', 'The deployment does not exist.')
    }
    for (let tries = 0; tries < triesMax; tries++) {
      const record = await catalogs.create(eventCatalog, { id: deployment, name: deployment,
        orderMs: 0, parentId: '', metadataJson: '{}', bodyJson: '{"seq":0}' }, {})
      if (mark !== undefined && mark <= markIn(record.bodyJson)) return undefined
      const newest = newestIn(record.bodyJson)
      const event: DeploymentEvent = { seq: (newest?.seq ?? 0) + 1, atMs: env.nowMs(), kind, by,
        data: JSON.stringify(data).length > dataCharacters ? { too_large: true } : data }
      if (newest !== undefined) {
        await documents.putDocuments(eventPlace(deployment), [{ key: keyOf(newest.seq),
          body: Buffer.from(JSON.stringify(newest)) }])
      }
      const { seq } = event
      const noted = await catalogs.change(eventCatalog, deployment, {
        bodyJson: JSON.stringify({ seq, event, mark }),
        expected: { seq: seq - 1 },
      }).catch(ignoreStale)
      if (noted === undefined) continue
      await this.#forget(deployment, seq)
      return event
    }
    throw new HeddleError('unavailable', 'Too much happens to this deployment at once: ask again.')
  }

  /** Removes the oldest events, once for every 100 that are noted. */
  async #forget(deployment: string, seq: number): Promise<void> {
    if (seq % removedTogether !== 0 || seq <= eventsKept) return
    const last = seq - eventsKept
    const old = Array.from({ length: Math.min(removedTogether, last) }, (_, index) => last - index)
    await this.#parts.documents.deleteDocuments(eventPlace(deployment), old.map(keyOf))
  }
}

function newestIn(bodyJson: string): DeploymentEvent | undefined {
  return new StoredFields(bodyJson)
    .object<DeploymentEvent>('event', ['seq', 'atMs', 'kind', 'by', 'data']) ?? undefined
}

/** The mark of the last event that was owed; 0 before the first. */
function markIn(bodyJson: string): number {
  return new StoredFields(bodyJson).number('mark', 0)
}

function keyOf(seq: number): string {
  return String(seq).padStart(12, '0')
}

function eventIn({ body }: Document): DeploymentEvent {
  return JSON.parse(Buffer.from(body).toString()) as DeploymentEvent
}

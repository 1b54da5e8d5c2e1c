/** Feedback: a row each by its id, and its place in the order of its span, project and tenant. */

import { FeedbackRow } from '../../../../proto/gen/storage/v1/span.ts'
import { readAhead } from '../../../../cluster/index.ts'
import { bytesOfUuid, isSameFeedback, uuidOfBytes } from '../../../platform/index.ts'
import type { Feedback, FeedbackQuery, Uuid } from '../../../platform/index.ts'
import { AmbiguousSwap } from '../driver/connection.ts'
import type { Connection, Statement, Value } from '../driver/connection.ts'
import { forEachLimit } from '../driver/for-each-limit.ts'
import { bytesOfFeedback, feedbackOf } from './rows/feedback-row.ts'
import type { PlacedFeedback } from './rows/feedback-row.ts'

/** Seconds that feedback on a span lives: as long as any span may. */
export const feedbackLivesS = 400 * 24 * 60 * 60

/** The scope of all feedback of a tenant. */
const whole: Uuid = '00000000-0000-0000-0000-000000000000'

/** Ids of a scope, and rows, that are read at a time. */
const [idsPage, rowsAtOnce] = [1_000, 16]

/** An id in the order of a scope. */
interface Ordered {
  readonly id: Uuid
  readonly createdUs: number
}

/** Writes, finds and removes feedback. */
export class FeedbackTable {
  readonly #connection: Connection
  readonly #rows: string
  readonly #orders: string

  constructor(connection: Connection) {
    this.#connection = connection
    this.#rows = `${connection.keyspace}.feedback`
    this.#orders = `${connection.keyspace}.feedback_order`
  }

  /** Writes or replaces feedback. The mark on its span is not written here. */
  async put(placed: PlacedFeedback): Promise<void> {
    const { row } = placed
    const before = await this.get(row.tenant, row.id)
    const kept = scopesOf(row)
    for (const scope of before === undefined ? [] : scopesOf(before.row)) {
      const stays = kept.includes(scope) && before!.row.createdUs === row.createdUs
      if (!stays) await this.#write(this.#orderRemoval(before!.row, scope))
    }
    await Promise.all(kept.map((scope) => this.#write(this.#orderOf(row, scope))))
    await this.#write({
      cql: `UPDATE ${this.#rows} USING TTL ? SET body = ? WHERE tenant = ? AND id = ?`,
      values: [lifeOf(row), bytesOfFeedback(placed), row.tenant, bytesOfUuid(row.id)],
    })
  }

  /**
   * Replaces feedback if it is still `before`. Returns false if it is not, or if that is not known.
   */
  async replace(before: Feedback, placed: PlacedFeedback): Promise<boolean> {
    const { tenant, id } = placed.row
    const stored = await this.#body(tenant, id)
    if (stored === undefined) return false
    const now = feedbackOf(tenant, id, FeedbackRow.decode(stored)).row
    if (!isSameFeedback(now, before)) return false
    for (const scope of scopesOf(placed.row)) await this.#write(this.#orderOf(placed.row, scope))
    const body = bytesOfFeedback(placed)
    try {
      const { applied } = await this.#connection.swap({
        cql: `UPDATE ${this.#rows} USING TTL ? SET body = ? WHERE tenant = ? AND id = ? ` +
          'IF body = ?',
        values: [lifeOf(placed.row), body, tenant, bytesOfUuid(id), stored],
      })
      if (!applied) return false
    } catch (error) {
      if (error instanceof AmbiguousSwap) return false
      throw error
    }
    // A plain write of a member whose clock is ahead has a later timestamp.
    return (await this.#body(tenant, id))?.equals(body) ?? false
  }

  async get(tenant: string, id: Uuid): Promise<PlacedFeedback | undefined> {
    const body = await this.#body(tenant, id)
    return body === undefined ? undefined : feedbackOf(tenant, id, FeedbackRow.decode(body))
  }

  async #body(tenant: string, id: Uuid): Promise<Buffer | undefined> {
    const [row] = await this.#connection.read({
      cql: `SELECT body FROM ${this.#rows} WHERE tenant = ? AND id = ?`,
      values: [tenant, bytesOfUuid(id)],
    })
    return row?.['body'] ?? undefined
  }

  async list(query: FeedbackQuery): Promise<readonly Feedback[]> {
    const { tenant, spans, project, onProject = false, keys, limit, offset } = query
    const wide = project === undefined || !onProject ? project : onProjectScope(project)
    const ids = spans === undefined
      ? this.#ordered(tenant, wide ?? whole)
      : await this.#ofSpans(tenant, spans)
    const found: Feedback[] = []
    let matching = 0
    const rows = readAhead(rowsAtOnce, ids,
      async (each) => ({ each, row: (await this.get(tenant, each.id))?.row }))
    for await (const { each, row } of rows) {
      if (found.length === limit) break
      // A place in an order may be of an earlier version.
      if (row === undefined || row.createdUs !== each.createdUs) continue
      if (keys !== undefined && !keys.includes(row.key)) continue
      if (project !== undefined && row.project !== project) continue
      if (onProject && row.span !== null) continue
      if (spans !== undefined && !spans.includes(row.span ?? '')) continue
      if (matching++ >= offset) found.push(row)
    }
    return found
  }

  /** Removes feedback by its id, but for the mark on its span. */
  async remove({ row }: PlacedFeedback): Promise<void> {
    for (const scope of scopesOf(row)) await this.#write(this.#orderRemoval(row, scope))
    await this.#write({ cql: `DELETE FROM ${this.#rows} WHERE tenant = ? AND id = ?`,
      values: [row.tenant, bytesOfUuid(row.id)] })
  }

  /** Yields the feedback on a span, or of a project. A caller may remove it. */
  async *inScope(tenant: string, scope: Uuid): AsyncGenerator<PlacedFeedback, void, void> {
    for await (const { id } of this.#ordered(tenant, scope)) {
      const placed = await this.get(tenant, id)
      if (placed !== undefined && scopesOf(placed.row).includes(scope)) yield placed
    }
  }

  async #ofSpans(tenant: string, spans: readonly Uuid[]): Promise<readonly Ordered[]> {
    const all: Ordered[] = []
    await forEachLimit(rowsAtOnce, new Set(spans), async (span) => {
      for await (const ordered of this.#ordered(tenant, span)) all.push(ordered)
    })
    return all.toSorted((a, b) => b.createdUs - a.createdUs || (a.id < b.id ? 1 : -1))
  }

  /** The ids of a scope, newest first. */
  async *#ordered(tenant: string, scope: Uuid): AsyncGenerator<Ordered, void, void> {
    const statement = {
      cql: `SELECT created_us, id FROM ${this.#orders} WHERE tenant = ? AND scope = ?`,
      values: [tenant, scope],
    }
    for await (const rows of this.#connection.pages(statement, idsPage)) {
      for (const row of rows) {
        yield { id: uuidOfBytes(row['id']), createdUs: Number(row['created_us']) }
      }
    }
  }

  #orderOf(row: Feedback, scope: Uuid): Statement {
    return { cql: `UPDATE ${this.#orders} USING TTL ? SET present = true ` +
      'WHERE tenant = ? AND scope = ? AND created_us = ? AND id = ?',
      values: [lifeOf(row), ...orderValues(row, scope)] }
  }

  #orderRemoval(row: Feedback, scope: Uuid): Statement {
    return { cql: `DELETE FROM ${this.#orders} ` +
      'WHERE tenant = ? AND scope = ? AND created_us = ? AND id = ?',
      values: orderValues(row, scope) }
  }

  async #write(statement: Statement): Promise<void> {
    await this.#connection.repeatableBatch([statement])
  }
}

/** Seconds that a row of feedback lives; zero is for ever. */
function lifeOf({ span }: Feedback): number {
  return span === null ? 0 : feedbackLivesS
}

function scopesOf({ span, project }: Feedback): readonly Uuid[] {
  return [whole, ...span === null ? [] : [span], ...project === null ? [] : [project],
    ...span === null && project !== null ? [onProjectScope(project)] : []]
}

/** The scope of feedback on the project itself: its id with the last bit changed. */
function onProjectScope(project: Uuid): Uuid {
  return project.slice(0, -1) + (parseInt(project.at(-1)!, 16) ^ 1).toString(16)
}

function orderValues({ tenant, createdUs, id }: Feedback, scope: Uuid): Value[] {
  return [tenant, scope, BigInt(createdUs), bytesOfUuid(id)]
}

/** Feedback and the tokens with which it is given. */

import { bytesOfUuid, uuidOfBytes } from '../../../platform/index.ts'
import type { Feedback, FeedbackMark, FeedbackQuery, FeedbackToken,
  Uuid } from '../../../platform/index.ts'
import type { Database, Value } from '../file/database.ts'
import type { NumberedProject } from './numbers.ts'
import { rowBytes } from './tenant-use.ts'
import type { TenantUse } from './tenant-use.ts'

type Bytes = Uint8Array
type Row = readonly [id: Bytes, span: Bytes | null, trace: Bytes | null, project: Bytes | null,
  key: string, score: number | null, value: string | null, createdUs: number, modifiedUs: number,
  bodyJson: string]
type TokenRow = readonly [id: Bytes, hash: string, span: Bytes, key: string, expiresMs: number,
  configJson: string]

const columns = 'id, span, trace, project, key, score, value, created_us, modified_us, body'
const tokenColumns = 'id, hash, span, key, expires_ms, config'

/** Marks that a head has at most: those that were made first. */
const marksMax = 1_000

/** The feedback of all tenants, by their numbers. */
export class FeedbackRows {
  readonly #database: Database
  readonly #use: TenantUse

  constructor(database: Database, use: TenantUse) {
    this.#database = database
    this.#use = use
  }

  /** Writes or replaces feedback. Its span does not have its mark yet. */
  put(tenant: number, row: Feedback): void {
    const [before = -rowBytes.feedback] = this.#database.prepare<[number]>(
      'SELECT octet_length(body) FROM feedback WHERE tenant = ? AND id = ?',
    ).get(tenant, bytesOfUuid(row.id)) ?? []
    this.#use.add(tenant, Buffer.byteLength(row.bodyJson) - before)
    this.#database.prepare(`
      INSERT INTO feedback (tenant, ${columns}, marked)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)
      ON CONFLICT DO UPDATE SET span = excluded.span, trace = excluded.trace,
        project = excluded.project, key = excluded.key, score = excluded.score,
        value = excluded.value, created_us = excluded.created_us,
        modified_us = excluded.modified_us, body = excluded.body, marked = 0
    `).run(tenant, bytesOfUuid(row.id), bytesOrNull(row.span), bytesOrNull(row.trace),
      bytesOrNull(row.project), row.key, row.score, row.value, row.createdUs, row.modifiedUs,
      row.bodyJson)
  }

  get(tenant: number, tenantName: string, id: Uuid): Feedback | undefined {
    const row = this.#database.prepare<Row>(
      `SELECT ${columns} FROM feedback WHERE tenant = ? AND id = ?`,
    ).get(tenant, bytesOfUuid(id))
    return row && feedbackOf(row, tenantName)
  }

  list(tenant: number, query: FeedbackQuery): readonly Feedback[] {
    const { spans, project, onProject = false, keys, limit, offset } = query
    const index = spans !== undefined || onProject
      ? 'feedback_span'
      : project !== undefined
      ? 'feedback_project'
      : 'feedback_created'
    const conditions = ['tenant = ?']
    const values: Value[] = [tenant]
    if (spans !== undefined) {
      conditions.push('span IN (SELECT unhex(value) FROM json_each(?))')
      values.push(JSON.stringify(spans.map((span) => span.replaceAll('-', ''))))
    }
    if (onProject) conditions.push('span IS NULL')
    if (project !== undefined) {
      conditions.push('project = ?')
      values.push(bytesOfUuid(project))
    }
    if (keys !== undefined) {
      conditions.push('key IN (SELECT value FROM json_each(?))')
      values.push(JSON.stringify(keys))
    }
    return this.#database.prepare<Row>(`
      SELECT ${columns} FROM feedback INDEXED BY ${index} WHERE ${conditions.join(' AND ')}
      ORDER BY created_us DESC, id DESC LIMIT ? OFFSET ?
    `).all(...values, limit, offset).map((row) => feedbackOf(row, query.tenant))
  }

  delete(tenant: number, id: Uuid): void {
    this.#delete(tenant, 'id = ?2', bytesOfUuid(id))
  }

  /** Deletes the feedback on a span of a project; all of it if no other project has the span. */
  deleteOfSpan({ tenant, id: project }: NumberedProject, span: Uint8Array): void {
    this.#delete(tenant, `span = ?2 AND (project = ?3 OR NOT EXISTS (
      SELECT 1 FROM span WHERE span.tenant = ?1 AND span.id = ?2))`, span, bytesOfUuid(project))
  }

  /**
   * Deletes feedback on a trace, and on its spans, of which none has come. With a project, other
   * projects keep their feedback.
   */
  deleteWaiting(tenant: number, trace: Uuid, project?: Uuid): void {
    if (!this.hasUnmarked(tenant)) return
    for (const column of ['span', 'trace']) {
      const isIt = `marked = 0 AND ${column} = ?2`
      if (project === undefined) this.#delete(tenant, isIt, bytesOfUuid(trace))
      else {
        this.#delete(tenant, `${isIt} AND (project IS NULL OR project = ?3)`, bytesOfUuid(trace),
          bytesOfUuid(project))
      }
    }
  }

  /** Deletes feedback on a span that a project has rejected and no other project has. */
  deleteWaitingOn(tenant: number, span: Uuid, project: Uuid): void {
    if (!this.hasUnmarked(tenant)) return
    this.#delete(tenant, `marked = 0 AND span = ?2 AND (project IS NULL OR project = ?3)
      AND NOT EXISTS (SELECT 1 FROM span WHERE span.tenant = ?1 AND span.id = ?2)`,
      bytesOfUuid(span), bytesOfUuid(project))
  }

  /** Deletes some feedback whose span has not come since a time. Returns how many. */
  expireWaiting(beforeUs: number, limit: number): number {
    // Feedback that names a project without the span is shown on the span of another project until
    // then.
    const isUnplaced = `NOT EXISTS (SELECT 1 FROM span
      WHERE span.tenant = feedback.tenant AND span.id = feedback.span)`
    return this.#database.prepare<[number]>(`
      SELECT DISTINCT tenant FROM (SELECT tenant FROM feedback INDEXED BY feedback_waiting
        WHERE marked = 0 AND span IS NOT NULL AND modified_us < ? AND ${isUnplaced} LIMIT ?)
    `).all(beforeUs, limit).reduce(
      (sum, [tenant]) =>
        sum + this.#delete(tenant, `no IN (SELECT no FROM feedback INDEXED BY feedback_waiting
        WHERE marked = 0 AND span IS NOT NULL AND modified_us < ?2 AND tenant = ?1
          AND ${isUnplaced} LIMIT ?3)`, beforeUs, limit).length,
      0,
    )
  }

  /** Deletes some of the feedback on a project. Returns the span of each row, or `null`. */
  deleteOfProject(tenant: number, project: Uuid, limit: number): readonly (Uuid | null)[] {
    return this.#delete(tenant, `no IN (SELECT no FROM feedback
      WHERE tenant = ?2 AND project = ?3 LIMIT ?4)`, tenant, bytesOfUuid(project), limit)
  }

  /** Deletes some of what a tenant has, the oldest first. Returns how many. */
  deleteSome(tenant: number, limit: number): number {
    return this.#delete(tenant, `no IN (SELECT no FROM feedback INDEXED BY feedback_created
      WHERE tenant = ?2 ORDER BY created_us, id LIMIT ?3)`, tenant, limit).length
  }

  /** Returns the spans of the deleted rows. */
  #delete(tenant: number, condition: string, ...values: Value[]): readonly (Uuid | null)[] {
    const deleted = this.#database.prepare<[number, Bytes | null]>(`
      DELETE FROM feedback WHERE tenant = ?1 AND ${condition} RETURNING octet_length(body), span
    `).all(tenant, ...values)
    for (const [bytes] of deleted) this.#use.add(tenant, -(rowBytes.feedback + bytes))
    return deleted.map(([, span]) => uuidOrNull(span))
  }

  /** The marks of the feedback on a span of a project, without feedback of other projects. */
  marks({ tenant, id }: NumberedProject, span: Uuid): readonly FeedbackMark[] {
    return this.#database.prepare<[Bytes, string, number | null, string | null]>(`
      SELECT id, key, score, value FROM feedback INDEXED BY feedback_span
      WHERE tenant = ?1 AND span = ?2 AND (project IS NULL OR project = ?3 OR NOT EXISTS (
        SELECT 1 FROM span JOIN project ON project.no = span.project
        WHERE span.tenant = ?1 AND span.id = ?2 AND project.id = feedback.project))
      ORDER BY created_us, id LIMIT ${marksMax}
    `).all(tenant, bytesOfUuid(span), bytesOfUuid(id))
      .map(([id, key, score, value]) => ({ id: uuidOfBytes(id), key, score, value }))
  }

  /** True if a tenant has feedback whose span was not there. */
  hasUnmarked(tenant: number): boolean {
    return this.#database.prepare(
      'SELECT 1 FROM feedback WHERE tenant = ? AND marked = 0 AND span IS NOT NULL LIMIT 1',
    ).get(tenant) !== undefined
  }

  /**
   * Notes that a span has the marks of its feedback. Feedback of a project that does not have the
   * span waits for it there.
   */
  setMarked(tenant: number, span: Uuid): void {
    this.#database.prepare(`
      UPDATE feedback SET marked = 1 WHERE tenant = ?1 AND span = ?2 AND marked = 0
        AND (project IS NULL OR EXISTS (SELECT 1 FROM span JOIN project ON project.no = span.project
          WHERE span.tenant = ?1 AND span.id = ?2 AND project.id = feedback.project))
    `).run(tenant, bytesOfUuid(span))
  }

  /** True if a span has feedback that waits for it. */
  isAwaited(tenant: number, span: Uuid): boolean {
    return this.#database.prepare(
      'SELECT 1 FROM feedback WHERE tenant = ? AND span = ? AND marked = 0 LIMIT 1',
    ).get(tenant, bytesOfUuid(span)) !== undefined
  }

  putToken(tenant: number, token: FeedbackToken): void {
    const { id, hash, span, key, expiresMs, configJson } = token
    this.#database.prepare(`
      INSERT OR REPLACE INTO feedback_token (tenant, ${tokenColumns}) VALUES (?, ?, ?, ?, ?, ?, ?)
    `).run(tenant, bytesOfUuid(id), hash, bytesOfUuid(span), key, expiresMs, configJson)
  }

  /** The token of any tenant, unless it has expired. */
  token(hash: string, nowMs: number): FeedbackToken | undefined {
    const row = this.#database.prepare<[string, ...TokenRow]>(`
      SELECT (SELECT name FROM tenant WHERE no = feedback_token.tenant), ${tokenColumns}
      FROM feedback_token WHERE hash = ? AND expires_ms > ?
    `).get(hash, nowMs)
    if (row === undefined) return undefined
    const [tenant, ...token] = row
    return tokenOf(token, tenant)
  }

  tokens(tenant: number, tenantName: string, span: Uuid): readonly FeedbackToken[] {
    return this.#database.prepare<TokenRow>(
      `SELECT ${tokenColumns} FROM feedback_token WHERE tenant = ? AND span = ? LIMIT 1000`,
    ).all(tenant, bytesOfUuid(span)).map((row) => tokenOf(row, tenantName))
  }

  /** Deletes the tokens of a span, unless a project has the span. */
  deleteTokensOf(tenant: number, span: Bytes): void {
    this.#database.prepare(`
      DELETE FROM feedback_token WHERE tenant = ?1 AND span = ?2 AND NOT EXISTS (
        SELECT 1 FROM span WHERE span.tenant = ?1 AND span.id = ?2)
    `).run(tenant, span)
  }

  /** Deletes the tokens of a tenant. Returns how many. */
  deleteTokens(tenant: number): number {
    const { changes } = this.#database.prepare('DELETE FROM feedback_token WHERE tenant = ?')
      .run(tenant)
    return Number(changes)
  }

  /** Deletes tokens that have expired. */
  expireTokens(nowMs: number): void {
    this.#database.prepare('DELETE FROM feedback_token WHERE expires_ms <= ?').run(nowMs)
  }
}

function feedbackOf(
  [id, span, trace, project, key, score, value, createdUs, modifiedUs, bodyJson]: Row,
  tenant: string,
): Feedback {
  return { tenant, id: uuidOfBytes(id), span: uuidOrNull(span), trace: uuidOrNull(trace),
    project: uuidOrNull(project), key, score, value, createdUs, modifiedUs, bodyJson }
}

function tokenOf([id, hash, span, key, expiresMs, configJson]: TokenRow,
  tenant: string): FeedbackToken {
  return { id: uuidOfBytes(id), hash, tenant, span: uuidOfBytes(span), key, expiresMs, configJson }
}

function bytesOrNull(id: Uuid | null): Bytes | null {
  return id === null ? null : bytesOfUuid(id)
}

function uuidOrNull(bytes: Bytes | null): Uuid | null {
  return bytes === null ? null : uuidOfBytes(bytes)
}

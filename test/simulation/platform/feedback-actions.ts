/** Feedback in a simulation that comes after its run or trace was removed, and tokens for it. */

import { hash } from 'node:crypto'

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { FeedbackToken } from '../../../src/platform/index.ts'
import { feedbackOf } from '../../../src/platform/records/feedback/feedback-row.ts'
import { multipartOf, partsOfRuns } from '../../support/ingest-bodies.ts'
import { tenant } from './platform-house.ts'
import { operationsOf } from './trace-actions.ts'
import type { ActionParts } from './trace-actions.ts'

/** Life of a token in milliseconds: longer than most sequences. */
const tokenMs = 366 * 86_400_000

/** The actions on late feedback and on tokens. */
export class FeedbackActions {
  readonly #parts: ActionParts

  readonly all: Readonly<Record<string, () => Promise<void>>> = {
    'roll back run': () => this.#rollBackRun(),
    'feedback on a late child': () => this.#giveOnLateChild(),
    'feedback token': () => this.#putToken(),
    'look for a token': () => this.#lookForToken(),
  }

  constructor(parts: ActionParts) {
    this.#parts = parts
  }

  /** A run that has not ended is rolled back. It may have feedback already. */
  async #rollBackRun(): Promise<void> {
    const { chance, house, model } = this.#parts
    const project = model.aProject()
    if (project === undefined) return
    const [id, atMs] = [house.newId('7'), house.rightMs]
    const row = { tenant, runId: id, threadId: id, assistantId: 'a', status: 'running', starts: 1,
      planJson: JSON.stringify({ graphId: project.name }), metadataJson: '', startedAtMs: atMs,
      createdAtMs: atMs, updatedAtMs: atMs } as RunRow
    const token = this.#newToken(id)
    await house.now.ingest.putFeedbackToken(token)
    if (chance.flip(0.5)) await this.#giveFeedback(id)
    await house.during(house.now.removeRuns([row]))
    model.deletedRuns.add(id)
    await this.#expectRejected(id)
    await this.#checkToken(token, false)
  }

  /** A client sends a child of a deleted trace, and feedback on it before and after. */
  async #giveOnLateChild(): Promise<void> {
    const { chance, house, model } = this.#parts
    const sent = model.aSentSpan()
    if (sent === undefined || !model.isGoneTrace(sent.project, sent.trace)) return
    const child = { ...sent, id: house.newId('7'), startMs: house.rightMs }
    if (chance.flip(0.5)) await this.#giveFeedback(child.id)
    await house.now.ingest.ingest({ tenant, form: 'multipart', encoding: '',
      ...multipartOf(partsOfRuns(operationsOf(child))) })
    await this.#expectRejected(child.id)
    const rows = await house.now.store.listFeedback({ tenant, spans: [child.id], limit: 9,
      offset: 0 })
    this.#parts.checks.expect('feedback on a late child', rows.length, 0)
  }

  async #putToken(): Promise<void> {
    const { house, model } = this.#parts
    const one = model.aLiveSpan()
    if (one === undefined) return
    const token = this.#newToken(one.id)
    await house.now.ingest.putFeedbackToken(token)
    model.tokens.push({ token, isGone: false })
  }

  /** A token is stored exactly as long as a project has its span. */
  async #lookForToken(): Promise<void> {
    const { chance, house, model } = this.#parts
    const nowMs = house.rightMs
    // A span that the store has freed was removed by no request, and its token expires.
    const freed = new Set(model.spans.filter(({ isFreed }) => isFreed).map(({ id }) => id))
    const known = model.tokens.filter(({ token: { span, expiresMs } }) =>
      expiresMs > nowMs && !freed.has(span)
    )
    if (known.length === 0 || model.hasQuota) return
    const { token, isGone } = chance.pick(known)
    await house.pass(5)
    await this.#checkToken(token, !isGone)
  }

  #newToken(span: string): FeedbackToken {
    const { house } = this.#parts
    const id = house.newId('4')
    return { id, hash: hash('sha256', id), tenant, span, key: 'good', configJson: '{}',
      expiresMs: house.rightMs + tokenMs }
  }

  async #checkToken({ hash: hashed, span }: FeedbackToken, expected: boolean): Promise<void> {
    const { checks, house: { now: { query }, rightMs: nowMs } } = this.#parts
    const found = await query.getFeedbackToken({ hash: hashed, nowMs })
    const listed = await query.listFeedbackTokens({ tenant, span })
    checks.expect(`token of ${span}`, [found !== undefined,
      listed.some((token) => token.hash === hashed)], [expected, expected])
  }

  async #expectRejected(span: string): Promise<void> {
    const [id, refused] = await this.#giveFeedback(span)
    this.#parts.checks.expect(`rejected feedback on ${span}`, refused, [id])
  }

  /** Returns the id of new feedback, and the ids of rejected feedback. */
  async #giveFeedback(span: string): Promise<readonly [string, readonly string[]]> {
    const { house } = this.#parts
    const id = house.newId('4')
    const row = feedbackOf(tenant, { id, run_id: span, key: 'good', score: 1 },
      house.rightMs * 1_000)
    return [id, await house.now.ingest.putFeedback([row])]
  }
}

/** Storage of feedback, which lives as long as its span, or as its project. */

import type { FeedbackMark, SpanPlace, Uuid } from './span.ts'

/** Feedback on a span, or on a whole project. */
export interface Feedback extends FeedbackMark {
  readonly tenant: string
  /** The span, or null for feedback on a project. */
  readonly span: Uuid | null
  readonly trace: Uuid | null
  /** Project of the span; null if neither the request nor the span named it. */
  readonly project: Uuid | null
  readonly createdUs: number
  readonly modifiedUs: number
  /** All other members of the row as clients see it, as JSON: score, value, comment and so on. */
  readonly bodyJson: string
}

/** Choice of feedback to list, newest first. All given conditions hold. */
export interface FeedbackQuery {
  readonly tenant: string
  /** At most 1 000 spans. */
  readonly spans?: readonly Uuid[]
  readonly project?: Uuid
  /** True for feedback on whole projects only. */
  readonly onProject?: boolean
  readonly keys?: readonly string[]
  readonly limit: number
  readonly offset: number
}

/** A link with which anyone may give one kind of feedback on one span. */
export interface FeedbackToken {
  readonly id: Uuid
  /** SHA-256 of the token, in hex. */
  readonly hash: string
  readonly tenant: string
  readonly span: Uuid
  readonly key: string
  readonly expiresMs: number
  readonly configJson: string
}

/** True if nothing has changed feedback since it was read. */
export function isSameFeedback(one: Feedback, other: Feedback): boolean {
  return one.modifiedUs === other.modifiedUs && one.bodyJson === other.bodyJson
}

/** The feedback of all tenants. */
export interface FeedbackPort {
  /**
   * Writes or replaces feedback by its id, and marks its span for filters if the place is known;
   * a term `fb:<key>` is added to its head. Durable when it resolves, with the ids of feedback that
   * was not written because its span, its trace or its project was deleted.
   */
  putFeedback(
    feedback: readonly { readonly row: Feedback; readonly place: SpanPlace | null }[],
  ): Promise<readonly Uuid[]>
  /**
   * Replaces feedback if it is still `before`. Returns `changed` if it is not, or if that is not
   * known, and `removed` if its span, its trace or its project was deleted.
   */
  replaceFeedback(before: Feedback,
    placed: { readonly row: Feedback; readonly place: SpanPlace | null }
  ): Promise<
    'replaced' | 'changed' | 'removed'
  >
  getFeedback(tenant: string, id: Uuid): Promise<Feedback | undefined>
  listFeedback(query: FeedbackQuery): Promise<readonly Feedback[]>
  deleteFeedback(tenant: string, id: Uuid): Promise<boolean>
  putFeedbackToken(token: FeedbackToken): Promise<void>
  /** The token with this hash, unless it has expired. */
  getFeedbackToken(hash: string, nowMs: number): Promise<FeedbackToken | undefined>
  listFeedbackTokens(tenant: string, span: Uuid): Promise<readonly FeedbackToken[]>
  /** Deletes all tokens of a tenant. Returns how many there were. */
  deleteFeedbackTokens(tenant: string): Promise<number>
}

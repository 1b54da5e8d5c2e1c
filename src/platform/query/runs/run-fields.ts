/** Shared parts of both APIs for showing a span as a run. */

import { LRUCache } from '../../../../cluster/index.ts'
import { tenantId } from '../../spans/tenant-id.ts'
import { segmentOf } from '../../spans/dotted-order.ts'
import type { FeedbackMark, SpanHead, Uuid } from '../../spans/span.ts'
import { timeTextUs } from '../../spans/time.ts'
import type { ByKind } from '../../spans/token-kinds.ts'
import { readUuid } from '../../../uuid-bytes.ts'
import type { Content } from '../payload/content.ts'

/** JSON of a member of a run: a text, or bytes that are copied unchanged. */
export type Json = string | Uint8Array

/** An attachment of a span, and where it can be read. */
export interface AttachmentLink {
  readonly name: string
  readonly type: string
  readonly url: string
}

/** Makes a member of a run. The content and the attachments are there if the field needs them. */
export type RunField = (head: SpanHead, content: Content,
  attachments: readonly AttachmentLink[]) => Json

/** Members of runs by their name. */
export interface RunFields {
  readonly [name: string]: { readonly of: RunField; readonly needsContent: boolean;
    readonly needsAttachments?: boolean }
}

/** A member that the head has. */
export function fromHead(of: (head: SpanHead) => string): RunFields[string] {
  return { of, needsContent: false }
}

/** A member that needs the payload. */
export function fromContent(of: RunField): RunFields[string] {
  return { of, needsContent: true }
}

/** A member about the attachments of a span; null if there are none. */
export function fromAttachments(
  of: (attachments: readonly AttachmentLink[]) => readonly (readonly [string, unknown])[],
): RunFields[string] {
  return { needsContent: false, needsAttachments: true,
    of: (_head, _content, attachments) =>
      attachments.length === 0 ? 'null' : JSON.stringify(Object.fromEntries(of(attachments))) }
}

/** A member that this server never has a value for. */
export const unknownValue = fromHead(() => 'null')

/** The JSON of a text that may need escapes. */
export function quoted(text: string | null): string {
  return text === null ? 'null' : JSON.stringify(text)
}

/** The JSON of an id. */
export function quotedId(id: Uuid | null): string {
  return id === null ? 'null' : `"${id}"`
}

/** The JSON of a number. */
export function numeric(value: number | null): string {
  return value === null ? 'null' : String(value)
}

/** US dollars as a decimal text, never with an exponent. */
export function dollars(value: number): string {
  const text = String(value)
  if (!text.includes('e')) return text
  const digits = [...value.toFixed(20)]
  const end = digits.findLastIndex((digit) => digit !== '0')
  return digits.slice(0, digits[end] === '.' ? end : end + 1).join('')
}

/** US dollars by the kind of token, as the first API has them. */
export function dollarsByKind(costs: ByKind): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(costs).map(([kind, each]) => [kind, dollars(each)]))
}

/** Numbers by the kind of token, as the second API has them; null for none. */
export function rawKinds(numbers: ByKind | undefined): { readonly raw: ByKind } | null {
  return numbers === undefined ? null : { raw: numbers }
}

/** Characters of the time in a segment of a dotted order. */
const timeLength = 22

/**
 * The dotted order of a span. One that came without it has that of a whole trace only where this is
 * read; elsewhere nothing is read for it, and it has its own segment.
 */
export function orderOf({ dottedOrder, startUs, id }: SpanHead): string {
  return dottedOrder ?? segmentOf(startUs, id)
}

/** The ids of the spans around a span, the root first. */
export function parentsOf({ dottedOrder, parent }: SpanHead): readonly Uuid[] {
  const path = dottedOrder?.split('.').slice(0, -1).map((segment) => segment.slice(timeLength)) ??
    []
  if (path.length === 0) return parent === null ? [] : [parent]
  return path.map((id) => readUuid(id) ?? id)
}

/** Ids of tenants that were asked for lately: each is a hash. */
const tenantIds = new LRUCache<string, Uuid>({ max: 1000 })

/** Path of the web page that shows a run. */
export function appPath({ tenant, project, id, trace, startUs }: SpanHead): string {
  const owner = tenantIds.get(tenant) ?? tenantId(tenant)
  tenantIds.set(tenant, owner)
  return `/o/${owner}/projects/p/${project}/r/${id}?trace_id=${trace}&start_time=${
    timeTextUs(startUs)
  }`
}

/** Numbers of the feedback on a span, by its key. */
export function feedbackStats(marks: readonly FeedbackMark[],
  more: (scores: readonly number[]) => Readonly<Record<string, unknown>> = () => ({})): string {
  const byKey = Map.groupBy(marks, ({ key }) => key)
  return JSON.stringify(Object.fromEntries([...byKey].map(([key, own]) => {
    const scores = own.flatMap(({ score }) => (score === null ? [] : [score]))
    const values = Map.groupBy(own.filter(({ value }) => value !== null), ({ value }) => value)
    return [key, {
      n: own.length,
      avg: average(scores),
      values: Object.fromEntries([...values].map(([value, each]) => [value, each.length])),
      ...more(scores),
    }]
  })))
}

/** Mean of numbers; null without numbers. */
export function average(numbers: readonly number[]): number | null {
  return numbers.length === 0
    ? null
    : numbers.reduce((sum, each) => sum + each, 0) / numbers.length
}

/** The answers to questions about runs and traces, as JSON in UTF-8. */

import { HeddleError } from '../../errors.ts'
import type { SpanHead, Uuid } from '../spans/span.ts'
import { timeTextUs } from '../spans/time.ts'
import type { RunsQuestion, SpanReads } from './question.ts'
import { attachmentsIn } from './attachments.ts'
import { writeCursor } from './cursor.ts'
import { JsonWriter } from './runs/json-writer.ts'
import { shownBy } from './matching.ts'
import type { ScanParts } from './matching.ts'
import { inside, wholeTrace } from './named-spans.ts'
import { findPage } from './page.ts'
import type { Page } from './page.ts'
import { visibility } from './scan.ts'
import { numeric } from './runs/run-fields.ts'
import { runWriter } from './runs/run-writer.ts'
import { withSubtreeUsage } from './subtree-usage.ts'

async function runsOf(parts: ScanParts, question: RunsQuestion, signal?: AbortSignal): Promise<
  Page
> {
  const isTrace = question.trace !== undefined && question.ids === undefined
  return isTrace
    ? { heads: await wholeTrace(parts, question, signal), next: undefined }
    : findPage(parts, question, signal)
}

/** The ids of a page of runs, or of the first of a trace. */
export async function answerSpanIds(parts: ScanParts, question: RunsQuestion,
  signal?: AbortSignal): Promise<readonly Uuid[]> {
  const { heads } = await runsOf(parts, question, signal)
  return heads.slice(0, question.limit).map(({ id }) => id)
}

/** A page of runs, or all runs of a trace. */
export async function answerRuns(parts: ScanParts, question: RunsQuestion,
  signal?: AbortSignal): Promise<Uint8Array> {
  const { heads, next } = await runsOf(parts, question, signal)
  const cursor = next === undefined ? null : writeCursor(next, question)
  if (question.isList) return written(parts, question, { heads, begin: '[', end: ']', signal })
  const [begin, end] = question.version === 1
    ? ['{"runs":[', `],"cursors":${JSON.stringify({ next: cursor, prev: null })},` +
      '"search_cursors":null,"parsed_query":null}']
    : ['{"items":[', `],${
      JSON.stringify({ next_cursor: cursor, has_more: cursor !== null })
        .slice(1)
    }`]
  return written(parts, question, { heads, begin: begin!, end: end!, signal })
}

/** All runs of a trace. */
export async function answerTrace(parts: ScanParts, question: RunsQuestion,
  signal?: AbortSignal): Promise<Uint8Array> {
  const heads = await wholeTrace(parts, question, signal)
  return written(parts, question, { heads, begin: '{"items":[', end: ']}', signal })
}

/** A page of traces: the root of each, with the sums over its spans. */
export async function answerTraces(parts: ScanParts, question: RunsQuestion,
  signal?: AbortSignal): Promise<Uint8Array> {
  const roots = { ...question, rootsOnly: true }
  const { heads, next } = await findPage(parts, roots, signal)
  const totals = await withSubtreeUsage(parts.store, heads, signal)
  const byRoot = new Map(totals.map((head) => [head.id, head]))
  const cursor = next === undefined ? null : writeCursor(next, roots)
  return written(parts, question, { heads, begin: '{"items":[',
    end: `],"next_cursor":${JSON.stringify(cursor)}}`, signal, around: (
      head,
    ) => ['{"root_run":', `,"trace_aggregates":${aggregates(byRoot.get(head.id)!)}}`] })
}

/** One run, as JSON. Throws `not_found` also for one that the question may not see. */
export async function answerRun(parts: ScanParts,
  { tenant, id, projects, version, select, links, within, shareUrl }: Parameters<
    SpanReads['run']
  >[0]): Promise<Uint8Array> {
  const isVisible = visibility({ projects }, parts.env.nowMs())
  const head = (await parts.store.heads(await parts.store.locate(tenant, [id]))).find(isVisible)
  const isThere = head !== undefined &&
    (within === undefined || (await inside(parts, within, [head])).length > 0)
  if (!isThere) throw new HeddleError('not_found', 'Run not found.')
  const heads = version === 1 && asksForUsage(select)
    ? await withSubtreeUsage(parts.store, [head])
    : [head]
  const json = new JsonWriter()
  const writer = runWriter(version, select, shownBy(parts), attachmentsIn(parts.store, links))
  await writer.write(json, heads,
    shareUrl === undefined ? {} : { more: () => `,"share_url":${JSON.stringify(shareUrl)}` })
  return json.done()
}

/** True if members with tokens or costs are selected. The first API shows them with subtrees. */
function asksForUsage(select: readonly string[] | undefined): boolean {
  return select === undefined || select.some((name) => /_(tokens|cost|details)$/i.test(name))
}

/** Runs to write, with the texts around them. */
interface Written {
  readonly heads: readonly SpanHead[]
  readonly begin: string
  readonly end: string
  readonly around?: (head: SpanHead) => readonly [before: string, after: string]
  readonly more?: (head: SpanHead) => string
  readonly signal: AbortSignal | undefined
}

async function written(parts: ScanParts, { version, select, subtreeUsage, links }: RunsQuestion,
  { heads, begin, end, around, more, signal }: Written): Promise<Uint8Array> {
  const { own, store } = parts
  const isSummed = (version === 1 || subtreeUsage === true) && asksForUsage(select)
  const shown = isSummed
    ? await withSubtreeUsage(own?.tracesIn(store) ?? store, heads, signal)
    : heads
  const json = new JsonWriter()
  json.add(begin)
  const writer = runWriter(version, select, shownBy(parts), attachmentsIn(store, links))
  await writer.write(json, shown, { around, more, signal })
  json.add(end)
  return json.done()
}

function aggregates({ firstTokenUs, totalTokens, totalCost }: SpanHead): string {
  const first = firstTokenUs === null ? 'null' : `"${timeTextUs(firstTokenUs)}Z"`
  return `{"first_token_time":${first},"total_tokens":${numeric(totalTokens)},` +
    `"total_cost":${numeric(totalCost)}}`
}

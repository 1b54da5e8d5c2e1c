/** Parts of a span of OpenTelemetry that are nowhere else in its run, as metadata. Pure. */

import { attributePrefix, keptKeys, spanKinds } from '../../spans/otel-keys.ts'
import type { AttributeValue, JsonObject } from './otlp-attributes.ts'
import { okCode } from './otlp-span.ts'
import type { OtlpLink, OtlpSpan } from './otlp-span.ts'

/** Keys and values that nothing else keeps, in the order of metadata. */
export type Kept = readonly (readonly [key: string, value: AttributeValue])[]

/** Metadata of all that the mapping did not read. */
export function keptOf(span: OtlpSpan,
  run: { readonly name: string; readonly error?: string }): Kept {
  return [
    ...span.attributes.left().map(([key, value]) => [attributePrefix + key, value] as const),
    ...membersOf(span, run),
    ...span.origin.metadata,
  ]
}

/** Members of a span that are set, and that the run does not have. */
function* membersOf({ name, kind, status, traceState, flags, links, dropped, origin }: OtlpSpan,
  run: { readonly name: string; readonly error?: string }): Generator<Kept[number], void, void> {
  if (name !== '' && name !== run.name) yield [keptKeys.name, name]
  if (kind > 1) yield [keptKeys.kind, spanKinds[kind] ?? kind]
  if (status.code === okCode) yield [keptKeys.status, 'ok']
  if (status.message !== '' && status.message !== run.error) {
    yield [keptKeys.statusMessage, status.message]
  }
  if (traceState !== '') yield [keptKeys.traceState, traceState]
  if (flags !== 0) yield [keptKeys.flags, flags]
  if (links.length > 0) yield [keptKeys.links, links.map(linkOf)]
  const counts = countsOf({ ...dropped, ...origin.dropped })
  if (counts !== undefined) yield [keptKeys.dropped, counts]
}

function linkOf({ traceId, spanId, traceState, attributes, dropped, flags }: OtlpLink): JsonObject {
  const own = Object.fromEntries(attributes)
  return { trace_id: traceId, span_id: spanId, ...traceState !== '' && { trace_state: traceState },
    ...Object.keys(own).length > 0 && { attributes: own }, ...dropped > 0 && { dropped },
    ...flags !== 0 && { flags } }
}

/** The counts that are not zero; undefined if all are. */
function countsOf(counts: Readonly<Record<string, number>>): JsonObject | undefined {
  const set = Object.entries(counts).filter(([, count]) => count > 0)
  return set.length === 0 ? undefined : Object.fromEntries(set)
}

/** A span of OpenTelemetry, whatever encoding it came in. */

import type { Attributes, AttributeValue, SpanAttributes } from './otlp-attributes.ts'

/** A span. Ids are in hex, as long as the exporter wrote them. */
export interface OtlpSpan {
  readonly traceId: string
  readonly spanId: string
  /** Empty for a root. */
  readonly parentId: string
  readonly name: string
  readonly startUs: number
  readonly endUs: number
  /** Its own, and behind them those of its resource. */
  readonly attributes: SpanAttributes
  readonly events: readonly OtlpEvent[]
  readonly status: { readonly code: number; readonly message: string }
  /** A number of `spanKinds`. */
  readonly kind: number
  readonly traceState: string
  readonly flags: number
  readonly links: readonly OtlpLink[]
  readonly dropped: Counts<'attributes' | 'events' | 'links'>
  readonly origin: SpanOrigin
}

/** Something that happened in a span. */
export interface OtlpEvent {
  readonly name: string
  readonly timeUs: number
  readonly attributes: Attributes
  readonly dropped: number
}

/** A span of another trace that has to do with a span. */
export interface OtlpLink {
  readonly traceId: string
  readonly spanId: string
  readonly traceState: string
  readonly attributes: Attributes
  readonly dropped: number
  readonly flags: number
}

/** Counts of parts that an exporter left out. */
export type Counts<Name extends string> = Readonly<Record<Name, number>>

/** Codes of a status. */
export const [okCode, failedCode] = [1, 2]

/** Resource and scope that spans have in common. */
export interface SpanOrigin {
  readonly dropped: Counts<'scope' | 'resource'>
  /** All else that the scope and the resource say, under the keys that keep it. */
  readonly metadata: readonly (readonly [key: string, value: AttributeValue])[]
}

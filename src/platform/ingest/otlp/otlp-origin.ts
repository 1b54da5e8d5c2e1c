/** Metadata that all spans of one scope have in common; each of them keeps it. Pure. */

import { keptKeys, resourcePrefix, scopeAttributeKey, scopePrefix } from '../../spans/otel-keys.ts'
import type { AttributeValue } from './otlp-attributes.ts'
import type { SpanOrigin } from './otlp-span.ts'

/** Attributes of a program, or of a library in it. */
export interface Described {
  readonly attributes: ReadonlyMap<string, AttributeValue>
  readonly dropped: number
  readonly schemaUrl: string
}

/** The library that made spans. */
export interface Scope extends Described {
  readonly name: string
  readonly version: string
}

/**
 * It is made once for all spans of the scope. It stands at the end of the metadata, so that in a
 * block the spans of one scope repeat one long text, which costs nothing.
 */
export function originOf(scope: Scope, resource: Described): SpanOrigin {
  const texts: readonly (readonly [string, string])[] = [[`${scopePrefix}name`, scope.name], [
    `${scopePrefix}version`,
    scope.version,
  ], [keptKeys.scopeSchema, scope.schemaUrl], [keptKeys.resourceSchema, resource.schemaUrl]]
  return {
    dropped: { scope: scope.dropped, resource: resource.dropped },
    metadata: [
      ...texts.filter(([, text]) => text !== ''),
      ...Array.from(scope.attributes, ([name, value]) => [scopeAttributeKey(name), value] as const),
      ...Array.from(resource.attributes,
        ([name, value]) => [resourcePrefix + name, value] as const),
    ],
  }
}

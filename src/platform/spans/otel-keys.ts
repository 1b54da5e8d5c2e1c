/**
 * Keys of metadata under which a span of OpenTelemetry keeps what no mapping read. LangSmith says
 * that such attributes become metadata, and documents no names. Pure.
 */

/** Prefixes of keys of metadata: attributes of the span, of its resource and of its scope. */
export const [attributePrefix, resourcePrefix, scopePrefix] = ['OTEL_ATTRIBUTES.', 'OTEL_RESOURCE.',
  'OTEL_SCOPE.']

/** The ids that OpenTelemetry gave the span. */
export const [traceIdKey, spanIdKey] = ['OTEL_TRACE_ID', 'OTEL_SPAN_ID']

/** Keys of metadata for everything else that a span, its resource and its scope may have. */
export const keptKeys = { name: 'OTEL_NAME', kind: 'OTEL_KIND', status: 'OTEL_STATUS',
  statusMessage: 'OTEL_STATUS_MESSAGE', traceState: 'OTEL_TRACE_STATE', flags: 'OTEL_FLAGS',
  links: 'OTEL_LINKS', dropped: 'OTEL_DROPPED', scopeSchema: 'OTEL_SCOPE_SCHEMA_URL',
  resourceSchema: 'OTEL_RESOURCE_SCHEMA_URL' } as const

/**
 * An attribute of spans that a server of this kind gave out. It is false if their resource and
 * scope were made up, because the span had none.
 */
export const exportedKey = 'heddle.exported'

/** Kinds of spans by their number. The first two mean the same, and are not kept. */
export const spanKinds: readonly (string | undefined)[] = [undefined, undefined, 'server', 'client',
  'producer', 'consumer']

/**
 * True for a key that only keeps what was sent. It has no terms and its words are not searched, so
 * that it costs no more than its bytes; filters look into the payload for it.
 */
export function isKeptKey(key: string): boolean {
  return key.startsWith('OTEL_') && key !== traceIdKey && key !== spanIdKey
}

const [ownMembers, escaped] = [/^(?:name$|version$|attributes\.)/, 'attributes.']

/** The key of an attribute of a scope. One that is named as a member of scopes is escaped. */
export function scopeAttributeKey(name: string): string {
  return scopePrefix + (ownMembers.test(name) ? escaped + name : name)
}

/** The name of the attribute of a scope that has this key; undefined for other keys. */
export function scopeAttributeOf(key: string): string | undefined {
  if (!key.startsWith(scopePrefix)) return undefined
  const name = key.slice(scopePrefix.length)
  if (name.startsWith(escaped)) return name.slice(escaped.length)
  return ownMembers.test(name) ? undefined : name
}

/**
 * Spans that a server of this kind gave out (`query/export/otlp-request.ts`). Their attributes say
 * the run as it was, so the words of conventions are not read in them, only kept. Pure.
 */

import { exportedKey } from '../../spans/otel-keys.ts'
import { takenText, textAt } from './otlp-attributes.ts'
import type { AttributeValue, SpanAttributes } from './otlp-attributes.ts'
import { keptOf } from './otlp-kept.ts'
import { failedCode } from './otlp-span.ts'
import type { OtlpSpan } from './otlp-span.ts'

/** True if a span was given out. */
export function isExported({ attributes }: OtlpSpan): boolean {
  return attributes.has(exportedKey)
}

const metadataPrefix = 'langsmith.metadata.'

/** The members of its run, but for those of every span. */
export function exportedMembers(span: OtlpSpan): Readonly<Record<string, unknown>> {
  const { attributes, status } = span
  const [name, type] = [takenText(attributes, 'langsmith.trace.name') ?? (span.name || 'span'),
    takenText(attributes, 'langsmith.span.kind')]
  const error = status.code === failedCode ? status.message || 'The span failed.' : undefined
  const members = {
    name,
    ...type !== undefined && { run_type: type },
    ...jsonAt(attributes, 'gen_ai.prompt', 'inputs'),
    ...jsonAt(attributes, 'gen_ai.completion', 'outputs'),
    ...error !== undefined && { error },
    tags: attributes.get('langsmith.span.tags') ?? [],
  }
  const parameters = jsonAt(attributes, 'llm.invocation_parameters', 'invocation_params')
  attributes.take('langsmith.span.tags')
  return { ...members,
    extra: { metadata: metadataOf(span, { name, ...error !== undefined && { error } }),
      ...parameters } }
}

function jsonAt(attributes: SpanAttributes, key: string,
  name: string): Readonly<Record<string, unknown>> {
  const text = textAt(attributes, key)
  if (text === undefined) return {}
  try {
    const value: unknown = JSON.parse(text)
    attributes.take(key)
    return { [name]: value }
  } catch {
    return {}
  }
}

/** Those that were given out as such, and what was given out as OpenTelemetry has it. */
function metadataOf(span: OtlpSpan,
  run: { readonly name: string; readonly error?: string }
): Readonly<
  Record<string, AttributeValue>
> {
  const { attributes, origin } = span
  const metadata: [string, AttributeValue][] = []
  for (const [key, value] of attributes) {
    if (!key.startsWith(metadataPrefix)) continue
    metadata.push([key.slice(metadataPrefix.length), value])
    attributes.take(key)
  }
  const isOwn = attributes.get(exportedKey) === true
  attributes.take(exportedKey)
  const kept = keptOf(isOwn ? span : { ...span, origin: { ...origin, metadata: [] } }, run)
  return Object.fromEntries([...metadata, ...kept])
}

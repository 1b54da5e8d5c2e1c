/** Signals of OpenTelemetry, in protobuf or JSON: traces are kept, all others are answered. */

import { Type } from 'typebox'

import { JsonObject } from '../json.ts'
import { operation } from '../operation.ts'

// In the encoding of the request.
const signal = { access: 'change', body: JsonObject(), raw: true,
  answer: Type.Object({ partialSuccess: Type.Optional(JsonObject()) }) } as const

export const exportTraces = operation('POST', '/api/v1/otel/v1/traces', {
  ...signal,
  summary: 'Create runs of spans of OpenTelemetry',
})

export const exportMetrics = operation('POST', '/api/v1/otel/v1/metrics', {
  ...signal,
  summary: 'Answer that no metrics are kept',
})

export const exportLogs = operation('POST', '/api/v1/otel/v1/logs', {
  ...signal,
  summary: 'Answer that no logs are kept',
})

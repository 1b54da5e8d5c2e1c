/** Answers to signals of OpenTelemetry that are no traces: nothing of them is kept. */

import { TraceResponse } from '../../../../proto/gen/otlp/v1/trace.ts'
import { otlpEncodingOf } from './otlp.ts'

/** A signal that is not kept. */
export type OtherSignal = 'metrics' | 'logs'

const refusedIn = { metrics: 'rejectedDataPoints', logs: 'rejectedLogRecords' } as const

/**
 * A partial success in the encoding of the request. By the protocol, exporters do not send again.
 * Its number is one, whatever the body has: bodies are not read. Throws `unsupported`.
 */
export function otherSignalAnswer(signal: OtherSignal,
  contentType: string): { readonly body: Uint8Array; readonly contentType: string } {
  const errorMessage = `Heddle keeps traces only, none of these ${signal}. Set ` +
    `OTEL_${signal.toUpperCase()}_EXPORTER=none to send none.`
  if (otlpEncodingOf(contentType) === 'json') {
    const partialSuccess = { [refusedIn[signal]]: '1', errorMessage }
    return { body: Buffer.from(JSON.stringify({ partialSuccess })),
      contentType: 'application/json' }
  }
  // The answers of all signals have the same fields.
  return { body: TraceResponse.encode({ partialSuccess: { rejectedSpans: '1', errorMessage } })
    .finish(), contentType: 'application/x-protobuf' }
}

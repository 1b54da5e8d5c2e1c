/** Bodies of OpenTelemetry: protobuf or JSON, read into one form. */

import { TraceResponse } from '../../../../proto/gen/otlp/v1/trace.ts'
import { HeddleError } from '../../../errors.ts'
import { spansOfBytes } from './otlp-bytes.ts'
import { spansOfJson } from './otlp-json.ts'
import type { OtlpSpan } from './otlp-span.ts'

/** The two encodings. */
export type OtlpEncoding = 'protobuf' | 'json'

/** Spans that one body may have: what collectors send at once. */
const spansMax = 20_000

/** The encoding that a content type names. Throws `unsupported`. */
export function otlpEncodingOf(contentType: string): OtlpEncoding {
  if (/^\s*application\/x-protobuf\b/i.test(contentType)) return 'protobuf'
  if (/^\s*application\/json\b/i.test(contentType)) return 'json'
  throw new HeddleError('unsupported', 'Send application/x-protobuf or application/json.')
}

/** The spans of a body. Throws `malformed` if it cannot be read, `too_large` for too many. */
export function readOtlp(body: Uint8Array, encoding: OtlpEncoding): readonly OtlpSpan[] {
  const spans = encoding === 'protobuf' ? spansOfBytes(body) : spansOfJson(body)
  if (spans.length > spansMax) {
    throw new HeddleError('too_large', `One request may have ${spansMax} spans.`)
  }
  return spans
}

/** The body of the answer. With rejected spans it says how many, and why. */
export function otlpAnswer(encoding: OtlpEncoding, rejected: readonly string[]): Uint8Array {
  const errorMessage = [...new Set(rejected)].slice(0, 3).join(' ')
  if (encoding === 'json') {
    return Buffer.from(rejected.length === 0 ? '{}' : JSON.stringify({
      partialSuccess: { rejectedSpans: String(rejected.length), errorMessage },
    }))
  }
  if (rejected.length === 0) return new Uint8Array()
  return TraceResponse.encode({
    partialSuccess: { rejectedSpans: String(rejected.length), errorMessage },
  }).finish()
}

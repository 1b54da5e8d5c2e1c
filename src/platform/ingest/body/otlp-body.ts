/** Spans of OpenTelemetry in the body of a request, as operations, and the answer to them. */

import { HeddleError } from '../../../errors.ts'
import { filedStartUs } from '../../spans/trace-place.ts'
import { mapSpans } from '../otlp/otlp-mapping.ts'
import type { OtlpRun } from '../otlp/otlp-mapping.ts'
import { otlpAnswer, otlpEncodingOf, readOtlp } from '../otlp/otlp.ts'
import type { RawOperation, Rejection, RequestBody } from './request-body.ts'

const none: ReadonlyMap<string, Buffer> = new Map()

/** Bytes that a span may have as an operation, and all spans of a request together. */
const [spanBytesMax, bytesMax] = [20 * 1024 * 1024, 128 * 1024 * 1024]

/** Reads a body. Spans that name no project are in `project`. Throws `malformed` or `too_large`. */
export function readOtlpBody(body: Buffer, contentType: string,
  project: string | undefined): RequestBody {
  const operations: RawOperation[] = []
  const rejected: Rejection[] = []
  let bytes = 0
  for (const mapped of mapSpans(readOtlp(body, otlpEncodingOf(contentType)), project)) {
    const read = 'run' in mapped ? operationOf(mapped.run) : mapped.rejected
    if ('reason' in read) {
      rejected.push(read)
      continue
    }
    bytes += read.main.byteLength
    if (bytes > bytesMax) throw new HeddleError('too_large', 'The spans are too long together.')
    operations.push(read)
  }
  return { operations, files: [], feedback: [], rejected }
}

function operationOf(run: OtlpRun): RawOperation | Rejection {
  const json = textOfJson(run)
  if (json === undefined || Buffer.byteLength(json) > spanBytesMax) {
    return { id: run.id, reason: 'The span is too long, or its attributes are too deep.' }
  }
  return { kind: 'post', id: run.id, main: Buffer.from(json), apart: none,
    filedUs: filedStartUs(run.trace_id) }
}

/** Undefined for what is too deep, as JSON in an attribute may be, or longer than a text. */
function textOfJson(run: OtlpRun): string | undefined {
  try {
    return JSON.stringify(run)
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** An answer, as bytes. */
interface OtlpAnswer {
  readonly otlp: { readonly body: Uint8Array; readonly contentType: string }
}

/** The answer to a body of this content type. */
export function otlpAnswerOf(contentType: string, rejected: readonly Rejection[]): OtlpAnswer {
  const encoding = otlpEncodingOf(contentType)
  return {
    otlp: { body: otlpAnswer(encoding, rejected.map(({ reason }) => reason)),
      contentType: encoding === 'json' ? 'application/json' : 'application/x-protobuf' },
  }
}

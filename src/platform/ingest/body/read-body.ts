/** Reads the body of a request with operations, whatever its form is. */

import { HeddleError } from '../../../errors.ts'
import { readBatch, readSingle } from './batch-body.ts'
import { readMultipart } from './multipart-body.ts'
import { readOtlpBody } from './otlp-body.ts'
import type { BodyForm, RequestBody } from './request-body.ts'

/** Operations that a body may have, and pieces of feedback. */
const operationsMax = 2000

/** Throws `malformed`, `unsupported` or `too_large`. */
export function readBody(form: BodyForm, body: Buffer): RequestBody {
  const read = readAs(form, body)
  if (form.form !== 'otlp' &&
    Math.max(read.operations.length, read.feedback.length) > operationsMax) {
    throw new HeddleError('too_large',
      `A body may have ${operationsMax} operations, and as much feedback.`)
  }
  return read
}

function readAs({ form, contentType, spanId, spareId, project }: BodyForm,
  body: Buffer): RequestBody {
  switch (form) {
    case 'multipart':
      return readMultipart(body, contentType)
    case 'batch':
      return readBatch(body, operationsMax)
    case 'post':
    case 'patch':
      return readSingle(form, spanId ?? null, body, spareId)
    case 'otlp':
      return readOtlpBody(body, contentType, project)
  }
}

/** Bytes from which on a body is read in a thread of its own: a span of OTLP has few. */
const [longBytes, longOtlpBytes] = [1024 * 1024, 32 * 1024]

/** True if reading it would hold up others. */
export function isLong({ form }: BodyForm, { byteLength }: Uint8Array): boolean {
  return byteLength >= (form === 'otlp' ? longOtlpBytes : longBytes)
}

/** Applies the project's own redaction to what a recording stores. */

import type { CallHeaders } from '../calls/call.ts'
import type { Mask } from './project-mask.ts'
import type { RecordedBody, RecordedCall } from './recording.ts'
import { statelessRunIn } from './stateless-run.ts'
import type { StatelessRun } from './stateless-run.ts'

/**
 * Returns the call with its URL, bodies and failure redacted. If the function fails, the call has
 * neither bodies nor the path of its URL, and `failed` gets the reason.
 */
export async function maskedCall(call: RecordedCall, mask: Mask,
  failed: (reason: unknown) => void): Promise<RecordedCall> {
  try {
    return await masked(call, mask)
  } catch (error) {
    failed(error)
    return { ...call, url: new URL(call.url).origin, request: withoutChunks(call.request),
      answer: withoutChunks(call.answer), failure: call.failure && { ...call.failure, message: '' },
      head: call.head
        && { ...call.head, headers: call.head.headers.filter(([name]) => name !== 'location') } }
  }
}

async function masked(call: RecordedCall, mask: Mask): Promise<RecordedCall> {
  const { method, url: before, head, failure } = call
  const url = await mask.text(before, { kind: 'url', method, url: before })
  const body = async (kind: 'request' | 'response', of: RecordedBody) => ({ ...of,
    chunks: await mask.chunks(of.chunks, { kind, method, url }) })
  return {
    ...call,
    url,
    request: await body('request', call.request),
    answer: await body('response', call.answer),
    head: head && { ...head, headers: await headersOf(head.headers, mask, { method, url }) },
    failure: failure
      && { ...failure, message: await mask.text(failure.message, { kind: 'error', method, url }) },
  }
}

async function headersOf(headers: CallHeaders, mask: Mask,
  call: Pick<RecordedCall, 'method' | 'url'>): Promise<CallHeaders> {
  return await Promise.all(
    headers.map(async ([name, value]) =>
      [name,
        name === 'location' ? await mask.text(value, { kind: 'url', ...call }) : value] as const
    ),
  )
}

function withoutChunks(body: RecordedBody): RecordedBody {
  return { ...body, chunks: [], isCut: body.isCut || body.chunks.length > 0 }
}

/**
 * Returns the bytes of a stateless run with its texts redacted. Undefined if the function fails or
 * returns no JSON.
 */
export async function maskedRun(bytes: Uint8Array, mask: Mask,
  failed: (reason: unknown) => void): Promise<Uint8Array | undefined> {
  const run = statelessRunIn(bytes)
  if (run?.request.kind !== 'run') return undefined
  const part = { kind: 'run', method: '', url: '' } as const
  const json = async (text: string) => {
    const result = await mask.text(text, part)
    if (result !== text) JSON.parse(result)
    return result
  }
  try {
    const { request, values, error } = run
    const { input, command, config, context } = request
    const redacted: StatelessRun = { ...run,
      request: { ...request, input: await json(input), config: await json(config),
        command: command && await json(command), context: context && await json(context) },
      values: values && await json(values),
      error: error && { ...error, message: await mask.text(error.message, part) } }
    return Buffer.from(JSON.stringify(redacted))
  } catch (error) {
    failed(error)
    return undefined
  }
}

/** A gate that keeps the calls of an execution, and one that answers from what was kept. */

import type { AnswerHead, Call, CallEnd } from '../../src/graph/calls/call.ts'
import type { CallGate, HeldPart } from '../../src/graph/calls/call-gate.ts'

/** A call that passed, and its answer. */
export interface KeptCall {
  readonly call: Call
  readonly body: Buffer | undefined
  readonly sent: Buffer[]
  head?: AnswerHead
  readonly chunks: Buffer[]
  end?: CallEnd
}

/** Lets all calls pass and keeps them. The body of a request is read first, unless it may not. */
export function keepingGate(kept: KeptCall[],
  { holds = 'nothing', reads = true }: { readonly holds?: HeldPart; readonly reads?: boolean } =
    {}): CallGate {
  return { decide: async (call) => {
    const body = reads ? await call.body.read(64 * 1024 * 1024) : undefined
    const own: KeptCall = { call, body: body && Buffer.from(body), sent: [], chunks: [] }
    kept.push(own)
    return { kind: 'pass', watcher: {
      holds,
      sent: (chunk) => void own.sent.push(Buffer.from(chunk)),
      head: (head) => void (own.head = head),
      chunk: (chunk) => void own.chunks.push(Buffer.from(chunk)),
      ended: async (end) => {
        own.end = end
        await new Promise(setImmediate)
      },
    } }
  } }
}

/** Answers each call by the next one that was kept for its method and URL, and sends nothing. */
export function answeringGate(kept: readonly KeptCall[]): CallGate {
  const left = [...kept]
  return { decide: ({ method, url }) => {
    const at = left.findIndex(({ call }) => call.method === method && call.url === url)
    const [found] = at < 0 ? [] : left.splice(at, 1)
    if (found?.end?.kind === 'failed') {
      const { error } = found.end
      if (found.head === undefined) return { kind: 'fail', error }
      return { kind: 'answer', answer: { head: found.head, body: failing(found.chunks, error) } }
    }
    if (found?.head === undefined) return { kind: 'fail', error: new Error(`not kept: ${url}`) }
    return { kind: 'answer', answer: { head: found.head, body: found.chunks } }
  } }
}

async function* failing(chunks: readonly Buffer[], error: Error): AsyncGenerator<Buffer> {
  yield* chunks
  throw error
}

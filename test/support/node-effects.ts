/** Effects as the code of a node does them: by the function, and by HTTP calls behind a door. */

import type { CallEnd } from '../../src/graph/calls/call.ts'
import { callScope } from '../../src/graph/calls/call-scope.ts'

/** Does an effect: its name, its input, its work. */
export type Effect = (name: string, input: unknown,
  work: (means: { readonly key: string; readonly signal: AbortSignal }) => unknown
) => Promise<unknown>

/** The effect of a node in this process. */
export const effect: Effect = (...asked) =>
  (globalThis as unknown as Record<symbol, Effect>)[Symbol.for('heddle.effect')]!(...asked)

/** True for an error that interrupts a node. */
export function isInterrupt(error: unknown): boolean {
  return typeof error === 'object' && error !== null && Object.hasOwn(error, 'interrupts')
}

/** An HTTP call of a node, behind a door that is simulated. */
export interface NodeCall {
  readonly url: string
  readonly body: unknown
  /** Returns the status and the body of the response, or throws if there is none. */
  readonly receive: (key: string | undefined) => Promise<readonly [number, string]>
}
/** Makes the call. Throws if the gate refuses it, and for a status of 400 and above. */
export async function post({ url, body, receive }: NodeCall): Promise<string> {
  const { gate, site } = callScope()!
  const bytes = Buffer.from(JSON.stringify(body))
  const decision = await gate.decide({ id: 1, client: 'fetch', method: 'POST', url, headers: [],
    site, body: { length: bytes.length, read: async () => bytes } })
  if (decision.kind === 'hold') return await new Promise<never>(() => {})
  if (decision.kind === 'fail') throw decision.error
  if (decision.kind === 'answer') {
    return Buffer.concat([...decision.answer.body as Iterable<Uint8Array>]).toString()
  }
  const { watcher } = decision
  const end = async (how: CallEnd) => void await watcher?.ended?.(how)
  try {
    const [status, text] = await receive(decision.headers?.['idempotency-key'] ?? undefined)
    watcher?.head?.({ status, statusText: '', headers: [] })
    watcher?.chunk?.(Buffer.from(text))
    await end({ kind: 'done' })
    if (status >= 400) throw new Error(`status ${status}`)
    return text
  } catch (error) {
    await end({ kind: 'failed', error: error as Error, mayHaveLeft: true })
    throw error
  }
}

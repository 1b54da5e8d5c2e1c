/** Calls between the main thread and a thread of the platform, typed by the handlers there. */

import type { MessagePort, Transferable, Worker } from 'node:worker_threads'

import { HeddleError } from '../../errors.ts'
import type { ErrorCode } from '../../errors.ts'

/**
 * Handlers by name. Their questions and answers are plain data; `signal` aborts when the caller
 * leaves.
 */
export type Handlers = Readonly<
  Record<string, (question: never, signal: AbortSignal) => Promise<unknown>>
>

type QuestionOf<Handler> = Handler extends (question: infer Question, ...rest: never[]) => unknown
  ? Question
  : never
type AnswerOf<Handler> = Handler extends (...all: never[]) => Promise<infer Answer> ? Answer : never

/** The caller's side of handlers. */
export type Calls<H> = {
  readonly [Name in keyof H]: (question: QuestionOf<H[Name]>,
    options?: { readonly transfer?: readonly Transferable[]; readonly signal?: AbortSignal }
  ) => Promise<AnswerOf<H[Name]>>
}

type Message =
  | { readonly ask: number; readonly name: string; readonly question: unknown }
  | { readonly giveUp: number }
  | { readonly answer: number; readonly value?: unknown; readonly error?: FailedCall }

interface FailedCall {
  readonly code: ErrorCode
  readonly message: string
  readonly details: HeddleError['details']
}

/** Bytes in an answer that are moved instead of copied. Nothing else may use their buffer. */
export class Moved {
  readonly bytes: Uint8Array
  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }
}

/** Answers the calls that arrive at a port with these handlers. */
export function serveCalls(port: MessagePort, handlers: Handlers): void {
  const open = new Map<number, AbortController>()
  port.on('message', (message: Message) => {
    if ('giveUp' in message) return open.get(message.giveUp)?.abort()
    if (!('ask' in message)) return
    const { ask, name, question } = message
    const controller = new AbortController()
    open.set(ask, controller)
    void Promise.resolve(handlers[name]!(question as never, controller.signal)).then(
      (value) => {
        const moved = value instanceof Moved ? value.bytes : undefined
        const whole = moved !== undefined && moved.byteLength === moved.buffer.byteLength
        port.postMessage({ answer: ask, value: moved ?? value } satisfies Message,
          whole ? [moved.buffer as ArrayBuffer] : [])
      },
      (caught: unknown) => {
        const { code, message, details } = HeddleError.from(caught)
        port.postMessage({ answer: ask, error: { code, message, details } } satisfies Message)
      },
    ).finally(() => open.delete(ask))
  })
}

/**
 * The calls that a worker or a port answers. All end with `unavailable` when it closes. `settled`
 * is awaited before each call.
 */
export function callsTo<H>(port: MessagePort | Worker,
  settled: () => Promise<void> | undefined = () => undefined): Calls<H> {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  let ids = 0
  let ended = false
  port.on('message', (message: Message) => {
    if (!('answer' in message)) return
    const { answer, value, error } = message
    const call = waiting.get(answer)
    waiting.delete(answer)
    if (error) call?.reject(new HeddleError(error.code, error.message, error.details))
    else call?.resolve(value)
  })
  const end = () => {
    ended = true
    for (const { reject } of waiting.values()) reject(new HeddleError('unavailable'))
    waiting.clear()
  }
  port.on('close', end)
  port.on('exit', end)
  const call = async (name: string, question: unknown,
    { transfer = [], signal }: { readonly transfer?: readonly Transferable[];
      readonly signal?: AbortSignal } = {}) => {
    await settled()
    if (ended) throw new HeddleError('unavailable')
    signal?.throwIfAborted()
    const ask = ++ids
    const pending = Promise.withResolvers<unknown>()
    waiting.set(ask, pending)
    const giveUp = () => {
      port.postMessage({ giveUp: ask } satisfies Message)
      pending.reject(signal!.reason)
      waiting.delete(ask)
    }
    signal?.addEventListener('abort', giveUp)
    port.postMessage({ ask, name, question } satisfies Message, transfer)
    try {
      return await pending.promise
    } finally {
      signal?.removeEventListener('abort', giveUp)
    }
  }
  return new Proxy({}, {
    get: (_, name) => (question: unknown, options?: object) =>
      call(String(name), question, options),
  }) as Calls<H>
}

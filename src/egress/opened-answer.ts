/** An answer that is read as it comes: bounded in time, in silence and in size. */

import type { Env } from '../../cluster/index.ts'
import { HeddleError } from '../errors.ts'
import { tookLonger } from './deadline.ts'
import type { HttpAnswer } from './http.ts'
import type { Redirect } from './redirect.ts'

/**
 * An answer with any status. Its connection is cut when its body is left, when a bound is reached,
 * or when its call is given up; the body then throws the reason. It is read once.
 */
export interface OpenedAnswer {
  readonly kind: 'opened'
  readonly status: number
  /** The wait that the answer asks for; 0 if it asks for none. */
  readonly retryAfterMs: number
  readonly body: AsyncIterable<Uint8Array>
}

/** Bounds of one answer, and what they end. */
export interface OpenedAnswerOptions {
  readonly env: Pick<Env, 'after'>
  /** Time from the request to the end of the answer. */
  readonly ms: number
  readonly bytesMax: number
  /** Aborts when the call is given up. */
  readonly stopped: AbortSignal
  /** Called once, when the answer has ended. */
  leave(): void
}

type Begun = Pick<HttpAnswer, 'status' | 'body'> & { readonly retryAfterMs: number }

/** Time without a byte after which an answer ends, in milliseconds. */
const silenceMs = 60_000

/** Opens the answer of a request. A redirect, or one that throws, ends at once. */
export async function openedAnswer(options: OpenedAnswerOptions,
  request: (signal: AbortSignal) => Promise<Begun | Redirect>): Promise<OpenedAnswer | Redirect> {
  const { env, ms, stopped, leave } = options
  const cut = new AbortController()
  const end = (reason: Error) => {
    if (cut.signal.aborted) return
    stopTime()
    stopped.removeEventListener('abort', giveUp)
    cut.abort(reason)
    leave()
  }
  const giveUp = () => end(stopped.reason)
  const stopTime = env.after(ms, () => end(tookLonger(ms)))
  stopped.addEventListener('abort', giveUp, { once: true })
  const ended = new HeddleError('unavailable', 'The answer has ended.')
  try {
    const answer = await request(cut.signal)
    if ('target' in answer) {
      end(ended)
      return answer
    }
    const { status, retryAfterMs } = answer
    return { kind: 'opened', status, retryAfterMs, body: bounded(answer.body, options, cut, end) }
  } catch (error) {
    // Aborting tells the transport, which throws an error of its own.
    const reason: unknown = cut.signal.aborted ? cut.signal.reason : error
    end(ended)
    throw reason
  }
}

async function* bounded(body: AsyncIterable<Uint8Array>, { env, bytesMax }: OpenedAnswerOptions,
  cut: AbortController, end: (reason: Error) => void): AsyncIterable<Uint8Array> {
  const listen = () =>
    env.after(silenceMs, () =>
      end(new HeddleError('unavailable', `it sent nothing for ${silenceMs / 1_000} seconds`)))
  let bytes = 0
  let stopSilence = listen()
  try {
    for await (const chunk of body) {
      stopSilence()
      bytes += chunk.length
      if (bytes > bytesMax)
        throw new HeddleError('too_large', `it is longer than ${bytesMax} bytes`)
      yield chunk
      cut.signal.throwIfAborted()
      stopSilence = listen()
    }
  } catch (error) {
    throw cut.signal.aborted ? cut.signal.reason : error
  } finally {
    stopSilence()
    end(new HeddleError('unavailable', 'The answer was left.'))
  }
}

/** Answers the calls of one execution from a recording. Nothing passes. */

import { isTraceAddress } from '../calls/trace-address.ts'
import type { Call, CallAnswer } from '../calls/call.ts'
import type { CallDecision, CallGate } from '../calls/call-gate.ts'
import { bodyBytesMax } from '../recording/call-watch.ts'
import type { HideSecrets } from '../recording/hidden-bytes.ts'
import type { Mask } from '../recording/project-mask.ts'
import { decodeBlock, executionsIn } from '../recording/recording.ts'
import type { RecordedCall } from '../recording/recording.ts'
import type { ReplayOrder } from '../replay-order.ts'
import { AnswerBook } from './answer-book.ts'
import type { BookedCall } from './answer-book.ts'
import type { CallIdentity } from './call-identity.ts'
import { redactedIdentity } from './compared-request.ts'
import type { RequestToCompare } from './compared-request.ts'
import { tokensByModel } from './model-tokens.ts'
import { listedMax } from './replay-report.ts'
import type { CallSite, MovedCall, ReplayReport, ReplayStop, ShownCall } from './replay-report.ts'
import { shownText, textDifference } from './text-difference.ts'

/**
 * The calls of a replayed execution. Once it is stopped, every call waits for ever. Rule:
 * [no_port].
 */
export class ReplayGate implements CallGate {
  readonly #order: ReplayOrder
  readonly #identify: (request: RequestToCompare) => Promise<CallIdentity>
  readonly #stopped = Promise.withResolvers<ReplayStop>()
  readonly #moved: MovedCall[] = []
  #book: Promise<AnswerBook> | undefined
  #stop: ReplayStop | null = null
  #isEnded = false
  readonly #answered: RecordedCall[] = []

  constructor(order: ReplayOrder, hide: HideSecrets, mask?: Mask) {
    this.#order = order
    this.#identify = (request) => redactedIdentity(request, hide, mask)
  }

  /** Resolves when it is stopped outside of the code, which could catch an error. */
  get stopped(): Promise<ReplayStop> {
    return this.#stopped.promise
  }

  readonly decide = async (call: Call): Promise<CallDecision> => {
    if (this.#isEnded) return { kind: 'hold' }
    if (isTraceAddress(call.url)) {
      return { kind: 'fail', error: new Error('A replay sends no traces.') }
    }
    const body = await call.body.read(bodyBytesMax.request)
    const book = await this.#opened()
    const { method, url, headers } = call
    const chunks = body ? [body] : []
    const identity = await this.#identify({ method, url, headers, chunks })
    if (this.#isEnded) return { kind: 'hold' }
    const match = book.take({ site: call.site ?? null, identity })
    if (match.kind === 'none') {
      this.stop(unanswered(call, identity, match.near))
      return { kind: 'hold' }
    }
    const { found } = match
    this.#answered.push(found.call)
    if (match.kind === 'moved' && this.#moved.length < listedMax) {
      this.#moved.push({ from: siteOf(found.call.site), to: siteOf(call.site) })
    }
    return decisionOf(found.call)
  }

  /** Stops the execution. The first reason counts. */
  stop(reason: ReplayStop): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#stop = reason
    this.#stopped.resolve(reason)
  }

  /** Ends it: what its code still does is of no interest. */
  async ended(): Promise<ReplayReport> {
    this.#isEnded = true
    const { unused } = await this.#opened()
    const missing = unused.map(({ call, identity }) => shown(call.site, identity))
    const recorded = [...this.#answered, ...unused.map(({ call }) => call)]
    return { answered: this.#answered.length, moved: this.#moved, stop: this.#stop,
      missing: this.#stop ? [] : missing.slice(0, listedMax),
      recordedTokens: tokensByModel(recorded), tokens: tokensByModel(this.#answered) }
  }

  #opened(): Promise<AnswerBook> {
    return this.#book ??= Promise.all(this.#order.blocks.map(decodeBlock))
      .then((blocks) =>
        AnswerBook.of(executionsIn(blocks).flatMap(({ calls }) => calls), this.#identify)
      )
  }
}

function unanswered({ site }: Call, identity: CallIdentity,
  near: BookedCall | undefined): ReplayStop {
  const asked = shown(site ?? null, identity)
  if (near === undefined) return { kind: 'call', asked, recorded: null }
  const [before, after] = textDifference(near.identity.text, identity.text)
  return { kind: 'call', asked: { ...asked, text: after },
    recorded: { ...shown(near.call.site, near.identity), text: before } }
}

function shown(site: CallSite | null | undefined, { method, url, text }: CallIdentity): ShownCall {
  return { site: siteOf(site), method, url: shownText(url), text: shownText(text) }
}

function siteOf(site: CallSite | null | undefined): CallSite | null {
  return site ? { step: site.step, nodes: [...site.nodes] } : null
}

/** A call goes as it went: an answer, a failure, or one that the client waited for in vain. */
function decisionOf(call: RecordedCall): CallDecision {
  const { head, end } = call
  if (head !== null) {
    return { kind: 'answer', answer: { head: { ...head, statusText: '' }, body: bodyOf(call) } }
  }
  return end === 'aborted' || end === 'open'
    ? { kind: 'hold' }
    : { kind: 'fail', error: failureOf(call) }
}

async function* bodyOf(call: RecordedCall): CallAnswer['body'] & AsyncGenerator<Uint8Array> {
  yield* call.answer.chunks
  if (call.end === 'done') return
  if (call.end === 'aborted' || call.end === 'open') await new Promise<never>(() => {})
  throw failureOf(call)
}

function failureOf({ failure }: RecordedCall): Error {
  const { code, message } = failure ?? { code: 'ECONNRESET', message: 'The connection ended.' }
  return Object.assign(new Error(message), { code })
}

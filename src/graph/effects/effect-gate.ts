/** The HTTP calls of nodes that happen once: the gate that the doors ask. */

import type { Call } from '../calls/call.ts'
import type { CallDecision, CallGate, CallWatcher } from '../calls/call-gate.ts'
import { asks, runningTask, stopsNow } from '../calls/running-tasks.ts'
import type { RunningTask } from '../calls/running-tasks.ts'
import type { EffectRule } from '../effect-rule.ts'
import { callPattern, isCallPattern } from '../call-pattern.ts'
import type { HideSecrets } from '../recording/hidden-bytes.ts'
import { answerOf, inputOf, isFinal, receiptOf, shownCall, targetOf } from './call-receipt.ts'
import type { CallReceipt } from './call-receipt.ts'
import { EffectError, effectError } from './effect-errors.ts'
import { tooLarge } from './effect-runner.ts'
import type { EffectRunner } from './effect-runner.ts'

const requestMax = 1024 * 1024
/** Bytes of an answer that are kept. As text they are a third more. */
const answerMax = 190 * 1024

/** Decides about the calls that rules match; the first that does counts. All others pass. */
export function effectGate(rules: readonly EffectRule[], runner: () => EffectRunner | undefined,
  hide: HideSecrets): CallGate {
  const matching = rules.filter(({ isCall }) => isCall)
    .map((rule) => ({ rule, fits: callPattern(rule.name) }))
  return {
    decide: (call) => {
      if (stopsNow(call.site)) return { kind: 'hold' }
      const found = matching.find(({ fits }) => fits(call))
      const rule = found ? found.rule : runner()?.ruleBegun(call)
      return rule ? decided(rule, call, { runner: runner(), hide }) : { kind: 'pass' }
    },
  }
}

async function decided(rule: EffectRule, call: Call,
  { runner, hide }: { readonly runner: EffectRunner | undefined;
    readonly hide: HideSecrets }): Promise<CallDecision> {
  const body = await call.body.read(requestMax)
  if (body === undefined || runner === undefined) {
    // A kept answer is a saving, and no promise.
    if (rule.strength === 'keep') return { kind: 'pass' }
    const message = body === undefined
      ? `The request of the effect "${rule.name}" is larger than 1 MiB.`
      : `The effect "${rule.name}" belongs into a node of a run.`
    return { kind: 'fail', error: new EffectError('unfit', rule.name, message) }
  }
  const decision = Promise.withResolvers<CallDecision>()
  let isSent = false
  const work = ({ key }: { readonly key: string }) => {
    isSent = true
    const received = Promise.withResolvers<unknown>()
    const watcher = watcherOf(received, () => settled)
    decision.resolve({ kind: 'pass', watcher,
      ...rule.strength === 'key' && { headers: { 'idempotency-key': key } } })
    return received.promise
  }
  const task = call.site && runningTask(call.site)
  const settled: Promise<unknown> = runner.perform(call.site, { name: rule.name,
    input: inputOf(call, body), work, task,
    call: { rule, target: targetOf(call),
      fits: (other) => isCallPattern(other) && callPattern(other)(call),
      within: (inner) => task ? task.within(inner) : inner(),
      shown: shownCall(call, body, hide) } })
  settled.then(
    (receipt) => {
      // The client of a call that was sent has its answer, which may be too large for a receipt.
      if (isSent) return
      decision.resolve({ kind: 'answer', answer: answerOf(receipt as CallReceipt) })
    },
    (error: Error) => decision.resolve(refused(rule, error, task)),
  )
  return await decision.promise
}

/**
 * A question, and a step that a person lets fail, end the task: the client would try again, or the
 * node would go on. The call stays open meanwhile.
 */
function refused({ name }: EffectRule, error: Error, task: RunningTask | undefined): CallDecision {
  const isQuestion = asks(error)
  if (!isQuestion && !(error instanceof EffectError && error.fault === 'failed')) {
    return { kind: 'fail', error }
  }
  if (task === undefined) {
    return { kind: 'fail', error: isQuestion ? effectError('unknown', name) : error }
  }
  task.stop(error)
  return { kind: 'hold' }
}

/** Gathers the answer. The client gets its end when the receipt is on its way to the log. */
function watcherOf(received: PromiseWithResolvers<unknown>,
  settled: () => Promise<unknown>): CallWatcher {
  const chunks: Uint8Array[] = []
  let head: Parameters<NonNullable<CallWatcher['head']>>[0] | undefined
  let bytes = 0
  return {
    holds: 'end',
    head: (came) => {
      head = came
    },
    chunk: (chunk) => {
      bytes += chunk.length
      if (bytes <= answerMax) chunks.push(chunk.slice())
    },
    ended: async (end) => {
      if (end.kind !== 'done' || head === undefined || !isFinal(head.status)) {
        received.reject(new Error('The call has no answer that stays.'))
      } else received.resolve(bytes > answerMax ? tooLarge : receiptOf(head, chunks))
      await settled().catch(() => {})
    },
  }
}

/** The function by which the code of a node does an effect once, whatever it is done with. */

import { byteHider } from '../recording/hidden-bytes.ts'
import type { HideSecrets } from '../recording/hidden-bytes.ts'
import type { Env } from '../../../cluster/index.ts'
import type { CallGate } from '../calls/call-gate.ts'
import { callScope } from '../calls/call-scope.ts'
import type { CallingJob, OpenGate } from '../calls/call-scope.ts'
import { asks, runningTask, stopsNow } from '../calls/running-tasks.ts'
import type { Execution } from '../execution.ts'
import { ruleIn, unnamedEffect } from './asked-effect.ts'
import { answerIn } from './effect-answers.ts'
import type { AskedEffect } from './asked-effect.ts'
import { EffectRunner } from './effect-runner.ts'
import { effectGate } from './effect-gate.ts'
import { effectError } from './effect-errors.ts'
import type { EffectRule } from '../effect-rule.ts'
import { taskQuestions } from './task-questions.ts'

/** Name under which the code of a project finds the function. It falls back where none is. */
const effectForm = Symbol.for('heddle.effect')

type EffectEnv = Pick<Env, 'nowMs' | 'monotonicMs' | 'after' | 'log'>

/** Makes the effects of an execution. */
export type OpenEffects = (job: CallingJob & { readonly signal: AbortSignal }) =>
  | EffectRunner
  | undefined

/** The effects of a worker's runs. */
export interface OpenedEffects {
  readonly open: OpenEffects
  /** Lets every call pass: it makes the tasks of runs known. */
  readonly gate: OpenGate
}

/** The runners of executions, by the gates of their calls. */
const runners = new WeakMap<CallGate, EffectRunner>()

/** Lets the runner do the effects of the code whose calls the gate decides about. */
export function bindEffects(gate: CallGate, runner: EffectRunner): void {
  runners.set(gate, runner)
}

/**
 * Offers the function to the project's code. Call before any file of the project is imported. With
 * no rule, it refuses every effect: the code's fallback would do it twice. `secretNames`: names of
 * variables whose values no question shows.
 */
export function offerEffects(rules: readonly EffectRule[], env: EffectEnv,
  secretNames?: readonly string[]
): {
  /** Decides about HTTP calls; empty if no rule is about any. */
  readonly gates: readonly OpenGate[]
  readonly over: (langgraph: object) => OpenedEffects
} | undefined {
  Object.assign(globalThis, { [effectForm]: rules.length > 0 ? perform : refuse })
  if (rules.length === 0) return undefined
  let hider: HideSecrets | undefined
  // The project's variables are known when its code runs.
  const hide: HideSecrets = (text) => (hider ??= byteHider(process.env, secretNames))(text)
  const ofCalls = rules.some(({ isCall }) => isCall)
  return {
    gates: ofCalls
      ? [
        ({ execution: { request } }) =>
          request.kind === 'edit' ? undefined : effectGate(rules, runnerNow, hide),
      ]
      : [],
    over: (langgraph) => openedOver(rules, env, langgraph),
  }
}

function openedOver(rules: readonly EffectRule[], env: EffectEnv,
  langgraph: object): OpenedEffects {
  const questions = taskQuestions(langgraph)
  const ignoresKey = keyWarning(env)
  return {
    gate: () => ({ decide: () => ({ kind: 'pass' }) }),
    open: ({ execution: { tenant, threadId, runId, request, replay }, outbox, signal }) =>
      request.kind === 'edit' ? undefined : new EffectRunner({
        thread: { tenant, threadId },
        rules,
        sink: outbox,
        signal,
        runId,
        isReplay: replay !== undefined,
        answer: answerIn(request),
        questions,
        ignoresKey,
        nowMs: () => env.nowMs(),
        monotonicMs: () => env.monotonicMs(),
        after: (ms, work) => env.after(ms, work),
      }),
  }
}

/** Warns of each receiver that does not drop a repetition, once. */
function keyWarning({ log }: EffectEnv): (effect: string) => void {
  const warned = new Set<string>()
  return (effect) => {
    if (warned.has(effect)) return
    warned.add(effect)
    log.warn(
      'A receiver has answered one Idempotency-Key in two ways: it seems to ignore the key, ' +
        'and to have done the effect twice. Use "once": "ask" for it. Told once for each effect.',
      { effect },
    )
  }
}

/** The execution with its steps in the log: the base of a task is there before its effects. */
export function loggedExecution(execution: Execution): Execution {
  const { request } = execution
  return request.kind === 'run' && request.durability === 'exit'
    ? { ...execution, request: { ...request, durability: 'async' } }
    : execution
}

async function perform(name: string, input: unknown, work: AskedEffect['work']): Promise<unknown> {
  const runner = runnerNow()
  if (runner === undefined) throw effectError('outside', name)
  const site = callScope()?.site
  if (stopsNow(site)) return await new Promise<never>(() => {})
  const task = site && runningTask(site)
  try {
    return await runner.perform(site, { name, input, work, task })
  } catch (error) {
    // The code around it may catch the question as well.
    if (asks(error)) task?.endWith(error)
    throw error
  }
}

/** The runner of the execution whose code runs; undefined outside of runs. */
function runnerNow(): EffectRunner | undefined {
  const scope = callScope()
  return scope && runners.get(scope.gate)
}

async function refuse(name: string): Promise<never> {
  throw unnamedEffect(ruleIn(name))
}

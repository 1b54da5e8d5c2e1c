/** An effect as the code of a node, or the client of an HTTP call, requests it. */

import type { RunningTask } from '../calls/running-tasks.ts'
import type { TaskSite } from '../calls/task-site.ts'
import type { EffectRule } from '../effect-rule.ts'
import type { WantedCall } from './effect-attempt.ts'
import { EffectError } from './effect-errors.ts'
import { inputHash } from './effect-position.ts'

/** Characters of an input. */
const inputMax = 1024 * 1024
/** Characters of the part of a name behind `#`. */
const ownNameMax = 128

/** The task whose effect it is: one object for each attempt. */
export type EffectSite = Pick<TaskSite, 'checkpointNs' | 'checkpointId' | 'taskId'>

/** An effect as the code of a node requests it. */
export interface AskedEffect {
  /** Name of the rule, which may be followed by `#` and a name of the effect's own. */
  readonly name: string
  readonly input: unknown
  /** Missing where the code of the task was entered unseen. */
  readonly task?: Pick<RunningTask, 'withinEachAround'> | undefined
  /** Missing for an effect that the code of its node awaits itself. */
  readonly call?: AskingCall
  /** Does it. `signal` aborts when the execution is cancelled. */
  readonly work: (means: { readonly key: string; readonly signal: AbortSignal }) => unknown
}

/** An HTTP call that is an effect: its client is between it and the node. */
export interface AskingCall extends WantedCall {
  readonly rule: EffectRule
  /** Does work in the engine's context of the task. */
  within<Result>(work: () => Result): Result
  /** Method, URL and body, in the form that questions show. */
  readonly shown: unknown
}

/** The name of the rule in the name that the code gives. */
export function ruleIn(name: string): string {
  const [rule = '', ...own] = name.split('#')
  if (own.join('#').length <= ownNameMax) return rule
  throw new EffectError('unfit', rule,
    `The name of the effect "${rule}" has more than ${ownNameMax} characters behind its "#".`)
}

/** The input, in the form that questions show. */
export function shownOf({ input, call }: AskedEffect): unknown {
  return call ? call.shown : input
}

/** Does work where the engine finds the task. The code of a node is there already. */
export function inTask<Result>({ call }: AskedEffect, work: () => Result): Result {
  return call ? call.within(work) : work()
}

/** The error of an effect that langgraph.json does not name. */
export function unnamedEffect(name: string): EffectError {
  return new EffectError('unnamed', name,
    `langgraph.json does not name the effect "${name}": add ` +
      `{"name": "${name}", "once": "key"} to "heddle": {"effects": […]}.`)
}

/** Hash of the input of an effect. Throws `unfit` if the input is too large, or is no JSON. */
export function hashOf({ name, input }: AskedEffect): string {
  const length = textOf(name, input).length
  if (length <= inputMax) return inputHash(input)
  throw new EffectError('unfit', name, `The input of the effect "${name}" is larger than 1 MiB.`)
}

/** The JSON of an input or a result. Throws `unfit` if it is no JSON. */
export function textOf(effect: string, value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null'
  } catch {
    throw new EffectError('unfit', effect, `The input and the result of the effect "${effect}" ` +
      'must be JSON.')
  }
}

/** Does the effects of one execution: intent in the log, work, receipt, result. */

import type { EffectNote } from '../../../proto/gen/storage/v1/log.ts'
import type { TaskSite } from '../calls/task-site.ts'
import type { StepSink } from '../state/step-sink.ts'
import { differs } from './call-receipt.ts'
import { decideEffect } from './decide-effect.ts'
import { EffectError, effectError } from './effect-errors.ts'
import type { EffectBases, EffectNotes, TaskRecords } from '../state/effect-notes.ts'
import { effectKey, inputHash } from './effect-position.ts'
import type { EffectPosition, EffectThread } from './effect-position.ts'
import { decisionIn, effectQuestion } from './effect-question.ts'
import type { EffectRule } from '../effect-rule.ts'
import { EffectSlots } from './effect-slots.ts'
import type { TaskQuestions } from './task-questions.ts'

/** The task whose effect it is: one object for each attempt. */
export type EffectSite = Pick<TaskSite, 'checkpointNs' | 'checkpointId' | 'taskId'>

/** An effect as the code of a node asks for it. */
export interface AskedEffect {
  readonly name: string
  readonly input: unknown
  /** Missing for an effect that the code of its node awaits itself. */
  readonly call?: AskingCall
  /** Does it. `signal` aborts when the execution is cancelled. */
  readonly work: (means: { readonly key: string; readonly signal: AbortSignal }) => unknown
}

/** An HTTP call that is an effect: its client is between it and the node. */
export interface AskingCall {
  /** Does work in the engine's context of the task. */
  within<Result>(work: () => Result): Result
  /** Method, URL and body, for the person who is asked. */
  readonly shown: unknown
  /** The receipt of a call of which a person said that it was done, with this result. */
  receiptOf(result: unknown): unknown
}

/** Result of work whose result is too large to be kept. */
export const tooLarge = Symbol('too large')

/** Ports of the effects of an execution. */
export interface EffectRunnerOptions {
  readonly thread: EffectThread
  readonly rules: readonly EffectRule[]
  readonly sink: Pick<StepSink, 'step' | 'acknowledged'>
  readonly signal: AbortSignal
  readonly runId: string
  readonly questions: TaskQuestions
  readonly nowMs: () => number
  readonly monotonicMs: () => number
  /** Tells that the receiver of an effect has answered one key in two ways. */
  readonly ignoresKey: (effect: string) => void
  /** Calls back after so many milliseconds; returns a function that stops it. */
  readonly after: (ms: number, work: () => void) => () => void
}

/** Characters of a result that is kept, and of an input. */
const resultMax = 256 * 1024
const inputMax = 1024 * 1024
/**
 * Milliseconds from an intent to its work. A worker that stood still for longer may have been
 * replaced, and a person may have decided meanwhile.
 */
export const startsWithinMs = 2_000
/** Intents that may come too late before the effect is given up. */
const latesMax = 5
/** Milliseconds in which the engine puts the checkpoint of a task that it began. */
const baseMs = 10_000

type Base = PromiseWithResolvers<TaskRecords>

/** The effects of one execution. */
export class EffectRunner implements EffectBases {
  readonly #options: EffectRunnerOptions
  readonly #rules: ReadonlyMap<string, EffectRule>
  readonly #bases = new Map<string, Base>()
  readonly #slots = new WeakMap<EffectSite, EffectSlots>()
  /** The last attempt of each task. */
  readonly #attempts = new Map<string, EffectSite>()
  /** Tasks that threw, here or before. */
  readonly #thrown = new Set<string>()
  #hasEnded = false

  constructor(options: EffectRunnerOptions) {
    this.#options = options
    this.#rules = new Map(options.rules.map((rule) => [rule.name, rule]))
  }

  based(ns: string, checkpointId: string, records: TaskRecords): void {
    for (const taskId of records.thrown) this.#thrown.add(taskId)
    this.#base(ns, checkpointId).resolve(records)
  }

  put(ns: string, checkpointId: string, records: TaskRecords): void {
    const base = this.#base(ns, checkpointId)
    if (ns === '') {
      this.#bases.clear()
      this.#bases.set(keyOf(ns, checkpointId), base)
      this.#attempts.clear()
    }
    base.resolve(records)
  }

  /** Does nothing more, because code may outlive its execution. */
  retire(): void {
    this.#hasEnded = true
  }

  /** Does the effect of a task, or answers with what it gave when it was done. */
  async perform(site: EffectSite | undefined, asked: AskedEffect): Promise<unknown> {
    const { name } = asked
    const rule = this.#rules.get(name)
    if (rule === undefined) throw unnamedEffect(name)
    if (site?.checkpointId === undefined || this.#hasEnded) throw effectError('outside', name)
    const { checkpointNs: ns, checkpointId, taskId } = site
    const hash = hashOf(asked)
    const slots = this.#slotsOf(site)
    const ordinal = slots.take(name, hash)
    try {
      const records = await this.#recordsOf(ns, checkpointId, name)
      const position = { ns, checkpointId, taskId, rule: name, ordinal }
      return await this.#settled(rule, asked, { position, hash, notes: records.effects,
        answered: (task) => records.answered(task) })
    } catch (error) {
      slots.failed(name, ordinal)
      throw error
    }
  }

  async #settled(rule: EffectRule, asked: AskedEffect, at: Place): Promise<unknown> {
    const { position, hash, notes } = at
    const key = effectKey(this.#options.thread, position)
    const known = () => notes.at(position)
    // A run that goes on brings the answer again that this effect has had from it.
    // That it was done may be in the log without what it gave: then the answer is needed again.
    const { decided, isOpen } = known()
    const lacksResult = decided?.decision === 'done' && isOpen
    if (decided?.runId === this.#options.runId && !lacksResult) this.#takeAnswer(asked, at)
    for (;;) {
      const hasThrown = this.#thrown.has(position.taskId)
      const order = decideEffect(rule, known(), { hash, key, hasThrown,
        nowMs: this.#options.nowMs() })
      switch (order.kind) {
        case 'answer':
          return JSON.parse(order.resultJson)
        case 'call':
          if (order.intends) await this.#intend(at, order.key)
          // The intent may be that of an attempt that still waits for it.
          else if (rule.strength !== 'keep') await this.#options.sink.acknowledged()
          return await this.#call(asked, at, order.key)
        case 'ask':
          this.#ask(asked, at)
          continue
        default:
          throw effectError(order.kind, asked.name)
      }
    }
  }

  /** Resolves when the intent is in the log, a short time ago. Rule: [intent_first]. */
  async #intend(at: Place, key: string): Promise<void> {
    const { sink, monotonicMs } = this.#options
    for (let lates = 0; lates < latesMax; lates++) {
      const sentMs = monotonicMs()
      this.#note(at, { $case: 'intended', value: { key, hash: at.hash } })
      await sink.acknowledged()
      if (monotonicMs() - sentMs < startsWithinMs) return
    }
    throw effectError('late', at.position.rule)
  }

  async #call({ name, work }: AskedEffect, at: Place, key: string): Promise<unknown> {
    const { signal } = this.#options
    signal.throwIfAborted()
    if (this.#hasEnded) throw effectError('outside', name)
    return this.#settle(at, await work({ key, signal }))
  }

  /** Writes the receipt, and returns what it will answer with. Rule: [receipt_with_result]. */
  #settle(at: Place, result: unknown): unknown {
    const settled = (resultJson: string, isCut: boolean) =>
      this.#note(at, { $case: 'settled', value: { hash: at.hash, resultJson, isCut } })
    if (result === tooLarge) return settled('', true)
    try {
      const resultJson = textOf(at.position.rule, result)
      const isCut = resultJson.length > resultMax
      settled(isCut ? '' : resultJson, isCut)
      // Another attempt may have been the first. Rule: [first_receipt].
      const { intent, receipt } = at.notes.at(at.position)
      if (receipt?.isCut !== false) return JSON.parse(resultJson)
      const first: unknown = JSON.parse(receipt.resultJson)
      if (intent && !isCut && differs(first, JSON.parse(resultJson))) {
        this.#options.ignoresKey(at.position.rule)
      }
      return first
    } catch (error) {
      // It was done, whatever it gave.
      settled('', true)
      throw error
    }
  }

  /** Takes the decision of a person; throws the engine's interrupt if there is none yet. */
  #ask(asked: AskedEffect, at: Place): void {
    const { name, input, call } = asked
    const { questions, nowMs, runId } = this.#options
    const answer = this.#takeAnswer(asked, at)
    if (answer === undefined) {
      const { intent } = at.notes.at(at.position)
      const question = effectQuestion(name, call ? call.shown : input, intent?.atMs ?? nowMs())
      inTask(asked, () => questions.ask(question))
      throw effectError('unknown', name)
    }
    const { decision, result } = decisionIn(answer.value)
    this.#note(at, { $case: 'decided', value: { decision, runId } })
    if (decision === 'done') this.#settle(at, call ? call.receiptOf(result) : result)
  }

  #takeAnswer(asked: AskedEffect, { position: { taskId }, answered }: Place):
    | { readonly value: unknown }
    | undefined {
    return inTask(asked, () => this.#options.questions.takeAnswer(answered(taskId)))
  }

  #note({ position, notes }: Place, note: NonNullable<EffectNote['note']>): void {
    const { ns, checkpointId, taskId, rule, ordinal } = position
    const effect: EffectNote = { rule, ordinal, atMs: this.#options.nowMs(), note }
    notes.add(taskId, effect)
    this.#options.sink.step({ $case: 'writes',
      value: { ns, checkpointId, taskId, writes: [], effect } })
  }

  #slotsOf(site: EffectSite): EffectSlots {
    const last = this.#attempts.get(site.taskId)
    // A task that begins again in the same execution threw before.
    if (last !== undefined && last !== site) this.#thrown.add(site.taskId)
    this.#attempts.set(site.taskId, site)
    const slots = this.#slots.get(site) ?? new EffectSlots()
    this.#slots.set(site, slots)
    return slots
  }

  /**
   * The records of a checkpoint, once that is on its way to the log: an intent behind it is there
   * after it. Rule: [durable_base].
   */
  async #recordsOf(ns: string, checkpointId: string, effect: string): Promise<TaskRecords> {
    const { promise, reject } = this.#base(ns, checkpointId)
    const stop = this.#options.after(baseMs, () => reject(effectError('outside', effect)))
    try {
      return await promise
    } finally {
      stop()
    }
  }

  #base(ns: string, checkpointId: string): Base {
    const key = keyOf(ns, checkpointId)
    const base = this.#bases.get(key) ?? Promise.withResolvers<TaskRecords>()
    this.#bases.set(key, base)
    return base
  }
}

function keyOf(ns: string, checkpointId: string): string {
  return `${ns}\n${checkpointId}`
}

/** Does work where the engine finds the task. The code of a node is there already. */
function inTask<Result>({ call }: AskedEffect, work: () => Result): Result {
  return call ? call.within(work) : work()
}

interface Place {
  readonly position: EffectPosition
  readonly hash: string
  readonly notes: EffectNotes
  readonly answered: TaskRecords['answered']
}

/** The error of an effect that langgraph.json does not name. */
export function unnamedEffect(name: string): EffectError {
  return new EffectError('unnamed', name,
    `langgraph.json does not name the effect "${name}": add ` +
      `{"name": "${name}", "once": "key"} to "heddle": {"effects": […]}.`)
}

function hashOf({ name, input }: AskedEffect): string {
  const length = textOf(name, input).length
  if (length <= inputMax) return inputHash(input)
  throw new EffectError('unfit', name, `The input of the effect "${name}" is larger than 1 MiB.`)
}

function textOf(effect: string, value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null'
  } catch {
    throw new EffectError('unfit', effect, `The input and the result of the effect "${effect}" ` +
      'must be JSON.')
  }
}

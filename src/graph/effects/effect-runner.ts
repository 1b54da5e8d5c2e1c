/** Does the effects of one execution: intent in the log, work, receipt, result. */

import type { EffectNote } from '../../../proto/gen/storage/v1/log.ts'
import { callPattern, isCallPattern } from '../call-pattern.ts'
import type { Call } from '../calls/call.ts'
import type { EffectRule } from '../effect-rule.ts'
import type { EffectBases, KnownEffect, TaskRecords } from '../state/effect-notes.ts'
import type { StepSink } from '../state/step-sink.ts'
import { hashOf, ruleIn, shownOf, textOf, unnamedEffect } from './asked-effect.ts'
import type { AskedEffect, EffectSite } from './asked-effect.ts'
import { differs, saidReceipt } from './call-receipt.ts'
import { decideEffect } from './decide-effect.ts'
import { EffectAnswers } from './effect-answers.ts'
import type { RunAnswer } from './effect-answers.ts'
import { EffectAttempt, hashIn } from './effect-attempt.ts'
import type { Slot, WantedEffect } from './effect-attempt.ts'
import { effectError } from './effect-errors.ts'
import { effectKey } from './effect-position.ts'
import type { EffectPosition, EffectThread } from './effect-position.ts'
import { decisionIn } from './effect-question.ts'
import { refuseCalls } from './kept-rules.ts'
import type { TaskQuestions } from './task-questions.ts'

/** Result of work whose result is too large to be kept. */
export const tooLarge = Symbol('too large')

/** Ports of the effects of an execution. */
export interface EffectRunnerOptions {
  readonly thread: EffectThread
  readonly rules: readonly EffectRule[]
  readonly sink: Pick<StepSink, 'step' | 'acknowledged'>
  readonly signal: AbortSignal
  readonly runId: string
  readonly answer: RunAnswer
  /** True in a replay, where no call reaches its receiver. */
  readonly isReplay?: boolean
  readonly questions: TaskQuestions
  readonly nowMs: () => number
  readonly monotonicMs: () => number
  /** Tells that the receiver of an effect has answered one key in two ways. */
  readonly ignoresKey: (effect: string) => void
  /** Calls back after so many milliseconds; returns a function that stops it. */
  readonly after: (ms: number, work: () => void) => () => void
}

/** Characters of a result that is kept. */
const resultMax = 256 * 1024
/**
 * Milliseconds from an intent to its work. A worker that stood still for longer may have been
 * replaced, and a person may have decided meanwhile.
 */
export const startsWithinMs = 2_000
/** Intents that may come too late before the effect is given up. */
const latesMax = 5
/** Milliseconds in which the engine puts the checkpoint of a task that it began. */
const baseMs = 10_000
/**
 * Milliseconds without a new effect, after which an attempt will not reach the effects of earlier
 * attempts any more.
 */
const quietMs = 250

interface Base extends PromiseWithResolvers<TaskRecords> {
  records?: TaskRecords
}

/** An attempt of a task, with the records of the task. */
interface Task {
  readonly ns: string
  readonly checkpointId: string
  readonly taskId: string
  readonly records: TaskRecords
  readonly attempt: EffectAttempt
}

/** An effect in its place. */
interface Place {
  readonly task: Task
  readonly slot: Slot
  readonly hash: string
}

/** The place of a running effect, and the function that ends it. */
interface Claimed {
  readonly slot: Slot
  readonly end: (isDone: boolean) => void
}

/** The effects of one execution. */
export class EffectRunner implements EffectBases {
  readonly #options: EffectRunnerOptions
  readonly #rules: ReadonlyMap<string, EffectRule>
  /** True if HTTP calls of the execution are seen, by a rule or by a replay. */
  readonly #seesCalls: boolean
  readonly #bases = new Map<string, Base>()
  readonly #attempts = new WeakMap<EffectSite, EffectAttempt>()
  /** The last attempt of each task. */
  readonly #sites = new Map<string, EffectSite>()
  /** Tasks that threw, here or before. */
  readonly #thrown = new Set<string>()
  readonly #answers: EffectAnswers
  #hasEnded = false

  constructor(options: EffectRunnerOptions) {
    this.#options = options
    this.#rules = new Map(options.rules.map((rule) => [rule.name, rule]))
    this.#answers = new EffectAnswers(options)
    this.#seesCalls = options.isReplay === true || options.rules.some(({ isCall }) => isCall)
  }

  based(ns: string, checkpointId: string, records: TaskRecords): void {
    if (!this.#seesCalls) refuseCalls(records)
    for (const taskId of records.thrown) this.#thrown.add(taskId)
    this.#know(ns, checkpointId, records)
  }

  put(ns: string, checkpointId: string, records: TaskRecords): void {
    const base = this.#base(ns, checkpointId)
    if (ns === '') {
      this.#bases.clear()
      this.#bases.set(keyOf(ns, checkpointId), base)
      this.#sites.clear()
    }
    this.#know(ns, checkpointId, records)
  }

  /** Does nothing more, because code may outlive its execution. */
  retire(): void {
    this.#hasEnded = true
  }

  /**
   * Returns the former rule of a call that no rule of langgraph.json matches, if its task has
   * started effects under that rule. It stays in force for the task, as `once: "ask"`.
   */
  ruleBegun({ site, ...call }: Pick<Call, 'site' | 'method' | 'url'>): EffectRule | undefined {
    if (site?.checkpointId === undefined) return undefined
    const { records } = this.#bases.get(keyOf(site.checkpointNs, site.checkpointId)) ?? {}
    const begun = records?.effects.of(site.taskId).find(({ rule, known }) =>
      known.intent !== undefined && isCallPattern(rule) && callPattern(rule)(call)
    )
    return begun &&
      { name: begun.rule, isCall: true, strength: 'ask', keyHours: 0, keptOnError: false }
  }

  /** Does the effect of a task, or answers with what it gave when it was done. */
  async perform(site: EffectSite | undefined, asked: AskedEffect): Promise<unknown> {
    const { name, call } = asked
    const rule = call?.rule ?? this.#rules.get(ruleIn(name))
    if (rule === undefined) throw unnamedEffect(ruleIn(name))
    if (site?.checkpointId === undefined || this.#hasEnded) throw effectError('outside', name)
    const { checkpointNs: ns, checkpointId, taskId } = site
    const wanted = { rule: name, hash: hashOf(asked), isKept: rule.strength === 'keep', call }
    const attempt = this.#attemptOf(site)
    const records = await this.#recordsOf(ns, checkpointId, name)
    const task = { ns, checkpointId, taskId, records, attempt }
    if (!attempt.hasTakenAnswer) this.#takeAnswer(asked, task)
    const { slot, end } = await this.#claim(asked, wanted, task)
    try {
      const result = await this.#settled(rule, asked, { task, slot, hash: wanted.hash })
      end(true)
      return result
    } catch (error) {
      end(false)
      throw error
    }
  }

  /** Assigns a place. Throws `changed`, or a question, if an effect with another input has it. */
  async #claim(asked: AskedEffect, wanted: WantedEffect, task: Task): Promise<Claimed> {
    const { attempt, records, taskId } = task
    for (;;) {
      const placing = attempt.place(wanted, records.effects.of(taskId))
      if (placing.kind === 'at') {
        return { slot: placing.slot, end: attempt.claim(placing.slot, wanted, shownOf(asked)) }
      }
      const { of } = placing
      if (placing.kind === 'undecided') {
        const { shown } = placing
        const { rule, ordinal, known } = of
        const about = { rule, ordinal, hash: hashIn(known)!, starts: known.starts }
        this.#answers.ask(asked, task, { about, known, shown, cause: 'replaced' })
      }
      // Concurrent branches of a node come in any order.
      if (await this.#continues(attempt)) continue
      if (placing.kind === 'changed') throw effectError('changed', asked.name)
      this.#decideNew(asked, wanted, task, of.known)
    }
  }

  /**
   * Resolves with true as soon as the attempt starts or ends another effect, and with false if it
   * does not.
   */
  async #continues(attempt: EffectAttempt): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const stop = attempt.isRunning
      ? () => {}
      : this.#options.after(quietMs, () => resolve(false))
    void attempt.changed.then(() => resolve(true))
    try {
      return await promise
    } finally {
      stop()
    }
  }

  /**
   * Writes the decision of a person about an effect that removed runs did with another input, in a
   * new place. Throws the question if there is no decision.
   */
  #decideNew(asked: AskedEffect, wanted: WantedEffect, task: Task, known: KnownEffect): void {
    const { rule, hash } = wanted
    const about = { rule, hash }
    const answer = this.#answers.held(task, about)
    if (answer === undefined || decisionIn(answer.value).decision === 'unclear') {
      this.#answers.ask(asked, task, { about, known, shown: shownOf(asked), cause: 'removed' })
    }
    const slot = task.attempt.next(wanted, task.records.effects.of(task.taskId))
    this.#decide({ task, slot, hash }, answer.value)
  }

  /** Applies the resume value of the run to the effect that it is about. */
  #takeAnswer(asked: AskedEffect, task: Task): void {
    task.attempt.hasTakenAnswer = true
    const { effect, value } = this.#answers.take(asked, task) ?? {}
    if (effect) this.#decide({ task, slot: effect, hash: hashIn(effect.known)! }, value)
  }

  async #settled(rule: EffectRule, asked: AskedEffect, at: Place): Promise<unknown> {
    const { task, slot, hash } = at
    const { taskId, records } = task
    const position = positionOf(at)
    const key = effectKey(this.#options.thread, position)
    const known = () => records.effects.at(position)
    const about = () => ({ ...slot, hash, starts: known().starts })
    for (;;) {
      const hasThrown = this.#thrown.has(taskId)
      const order = decideEffect(rule, known(), { hash, key, hasThrown,
        nowMs: this.#options.nowMs() })
      switch (order.kind) {
        case 'answer':
          return JSON.parse(order.resultJson)
        case 'call':
          if (order.intends) await this.#intend(rule, at, order.key)
          // The intent may be that of an attempt that still waits for it.
          else if (rule.strength !== 'keep') await this.#options.sink.acknowledged()
          return await this.#call(asked, at, order.key)
        case 'ask': {
          const answer = this.#answers.held(task, about())
          if (answer === undefined) {
            this.#answers.ask(asked, task, { about: about(), known: known(), shown: shownOf(asked),
              cause: 'uncertain' })
          }
          this.#decide(at, answer.value)
          continue
        }
        default:
          throw effectError(order.kind, asked.name)
      }
    }
  }

  /** Resolves when the intent is in the log, a short time ago. Rule: [intent_first]. */
  async #intend({ strength }: EffectRule, at: Place, key: string): Promise<void> {
    const { sink, monotonicMs } = this.#options
    const once = strength === 'key' ? 'key' : 'ask'
    for (let lates = 0; lates < latesMax; lates++) {
      const sentMs = monotonicMs()
      this.#note(at, { $case: 'intended', value: { key, hash: at.hash, once } })
      await sink.acknowledged()
      if (monotonicMs() - sentMs < startsWithinMs) return
    }
    throw effectError('late', at.slot.rule)
  }

  async #call({ name, work }: AskedEffect, at: Place, key: string): Promise<unknown> {
    const { signal } = this.#options
    signal.throwIfAborted()
    if (this.#hasEnded) throw effectError('outside', name)
    return this.#settle(at, await work({ key, signal }))
  }

  /** Writes the receipt, and returns what it will answer with. Rule: [receipt_with_result]. */
  #settle(at: Place, result: unknown): unknown {
    const { slot: { rule }, hash, task: { records } } = at
    const settled = (resultJson: string, isCut: boolean) =>
      this.#note(at, { $case: 'settled', value: { hash, resultJson, isCut } })
    if (result === tooLarge) return settled('', true)
    try {
      const resultJson = textOf(rule, result)
      const isCut = resultJson.length > resultMax
      settled(isCut ? '' : resultJson, isCut)
      // Another attempt may have been the first. Rule: [first_receipt].
      const { intent, receipt } = records.effects.at(positionOf(at))
      if (receipt?.isCut !== false) return JSON.parse(resultJson)
      const first: unknown = JSON.parse(receipt.resultJson)
      if (intent && !isCut && differs(first, JSON.parse(resultJson))) {
        this.#options.ignoresKey(rule)
      }
      return first
    } catch (error) {
      // It was done, whatever it gave.
      settled('', true)
      throw error
    }
  }

  #decide(at: Place, answer: unknown): void {
    const { decision, result } = decisionIn(answer)
    const { hash, slot: { rule } } = at
    const { runId, thread } = this.#options
    const key = effectKey(thread, positionOf(at))
    this.#note(at, { $case: 'decided', value: { decision, runId, hash, key } })
    if (decision === 'done') this.#settle(at, isCallPattern(rule) ? saidReceipt(result) : result)
  }

  #note(at: Place, note: NonNullable<EffectNote['note']>): void {
    const { task: { ns, checkpointId, taskId, records }, slot: { rule, ordinal } } = at
    const effect: EffectNote = { rule, ordinal, atMs: this.#options.nowMs(), note }
    records.effects.add(taskId, effect)
    this.#options.sink.step({ $case: 'writes',
      value: { ns, checkpointId, taskId, writes: [], effect } })
  }

  #attemptOf(site: EffectSite): EffectAttempt {
    const last = this.#sites.get(site.taskId)
    // A task that begins again in the same execution threw before.
    if (last !== undefined && last !== site) this.#thrown.add(site.taskId)
    this.#sites.set(site.taskId, site)
    const attempt = this.#attempts.get(site) ?? new EffectAttempt()
    this.#attempts.set(site, attempt)
    return attempt
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

  #know(ns: string, checkpointId: string, records: TaskRecords): void {
    const base = this.#base(ns, checkpointId)
    base.records ??= records
    base.resolve(records)
  }

  #base(ns: string, checkpointId: string): Base {
    const key = keyOf(ns, checkpointId)
    const base: Base = this.#bases.get(key) ?? Promise.withResolvers<TaskRecords>()
    this.#bases.set(key, base)
    return base
  }
}

function keyOf(ns: string, checkpointId: string): string {
  return `${ns}\n${checkpointId}`
}

function positionOf(
  { task: { ns, checkpointId, taskId }, slot: { rule, ordinal } }: Place,
): EffectPosition {
  return { ns, checkpointId, taskId, rule, ordinal }
}

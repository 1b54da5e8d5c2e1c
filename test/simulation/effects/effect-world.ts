/** A simulated world of one thread with effects: its log, its workers, a receiver and a person. */

import type { EffectNote } from '../../../proto/gen/storage/v1/log.ts'
import { effectRulesOf } from '../../../src/graph/effect-rule.ts'
import { EffectRunner } from '../../../src/graph/effects/effect-runner.ts'
import { EffectNotes } from '../../../src/graph/state/effect-notes.ts'
import { afterShort } from '../../support/short-pauses.ts'
import { Chance } from '../chance.ts'

/**
 * intent_first         an effect is done after its intent is in the log
 * durable_base         the checkpoint of a task is in the log before the task's first intent
 * position             with another input, an effect has no new position before others are reached
 * ask_once             an open intent is done again with its key only, or after a decision
 * current_placement    intents of an execution that is not the current one are refused
 * fork_key             a fork has other keys
 * receipt_with_result  a receipt is in the log before what its task made of it
 * first_receipt        the first receipt of a position stays
 */
export const effectRules = ['intent_first', 'durable_base', 'position', 'ask_once',
  'current_placement', 'fork_key', 'receipt_with_result', 'first_receipt'] as const

/** A rule of effects that can be taken away. */
export type EffectRuleName = typeof effectRules[number]

/** What happened in a world. */
export interface EffectOutcome {
  readonly findings: readonly string[]
  /** Workers that died or were replaced while an effect was under way. */
  readonly cutOff: number
  readonly questions: number
  readonly successes: number
}

/** What a task made of its effects: its writes, or a question that its node asks. */
interface Result {
  readonly kind: 'success' | 'question'
  /** What the receiver of the charge said. */
  readonly paid: unknown
}

/** A row of the log: the checkpoint of a task, a note on an effect of it, or its result. */
type Row = { readonly base: string; readonly note?: EffectNote; readonly result?: Result }

/** A line of history of the thread: a fork begins a new one. */
interface Line {
  /** The node has ended. */
  end: 'open' | 'success' | 'failed'
  readonly charged: Set<string>
  mails: number
  orders: number
  saidDone: boolean
  /** True if the node asks a person after its effects. */
  readonly asks: boolean
  hasAnswer: boolean
  /** The worker whose result was the first in the log; 0 for none. */
  resultOf: number
  /** Effects that were done, or asked about, although a result of them is in the log. */
  repeats: number
  /** What the results in the log say of the charge. */
  readonly paid: Set<unknown>
}

/** Execution of the thread's node by one worker. */
interface Worker {
  readonly placement: number
  readonly base: string
  readonly runner: EffectRunner
  readonly sent: Row[]
  /** Receipts that come after the result, where nothing keeps them before it. */
  late: Row[]
  readonly acks: { readonly behind: number; readonly ack: PromiseWithResolvers<void> }[]
  landed: number
  isDead: boolean
  /** Time until which it stands still. */
  stopsUntilMs: number
  /** The node's attempt that counts. One that took too long goes on beside it. */
  attempt: number
}

/** A request that is on its way to the receiver. */
interface Request {
  readonly worker: Worker
  readonly line: Line
  readonly path: 'charge' | 'mail'
  readonly key: string
  readonly answer: PromiseWithResolvers<string>
  hasArrived: boolean
}

class Waits extends Error {}

class AsksPerson extends Error {
  readonly paid: unknown

  constructor(paid: unknown) {
    super('Was it good?')
    this.paid = paid
  }
}

const rules = effectRulesOf([{ name: 'charge', once: 'key' }, { name: 'mail', once: 'ask' }])
const eventsMax = 60

/** Simulates the world of a seed, without one of the rules if it is named. */
export async function simulateEffects(seed: number,
  without?: EffectRuleName): Promise<EffectOutcome> {
  const world = new EffectWorld(new Chance(seed), without)
  await world.live()
  return world.outcome()
}

class EffectWorld {
  readonly #chance: Chance
  readonly #without: EffectRuleName | undefined
  readonly #log: Row[] = []
  readonly #lines: Line[] = []
  readonly #workers: Worker[] = []
  #requests: Request[] = []
  #nowMs = 0
  #ids = 0
  /** The checkpoint of the current line that is in the log; undefined for none. */
  #base: string | undefined
  /** Whose question the thread waits with. */
  #waits: 'effect' | 'node' | undefined
  #isCalm = false
  #cutOff = 0
  #questions = 0

  constructor(chance: Chance, without: EffectRuleName | undefined) {
    this.#chance = chance
    this.#without = without
  }

  async live(): Promise<void> {
    for (let forks = this.#chance.below(3); forks >= 0; forks--) {
      this.#lines.push({ end: 'open', charged: new Set(), mails: 0, orders: 0, saidDone: false,
        asks: this.#chance.flip(0.5), hasAnswer: false, resultOf: 0, repeats: 0, paid: new Set() })
      this.#base = undefined
      this.#isCalm = false
      this.#start()
      for (let at = 0; this.#line.end === 'open' && at < 20 * eventsMax; at++) {
        this.#isCalm = at > eventsMax
        this.#event()
        await new Promise(setImmediate)
      }
      for (const worker of this.#workers) worker.isDead = true
    }
  }

  outcome(): EffectOutcome {
    const findings = this.#lines.flatMap((line, at) =>
      faultsOf(line).map((fault) => `line ${at}: ${fault}`)
    )
    return { findings, cutOff: this.#cutOff, questions: this.#questions,
      successes: this.#lines.filter(({ end }) => end === 'success').length }
  }

  get #line(): Line {
    return this.#lines.at(-1)!
  }

  get #current(): Worker | undefined {
    const newest = this.#workers.at(-1)
    return newest?.isDead ? undefined : newest
  }

  /** One thing that happens: rows land, requests arrive, workers die, a person answers. */
  #event(): void {
    this.#nowMs += this.#chance.below(400)
    const current = this.#current
    if (this.#waits) return this.#answer()
    if (current === undefined) return this.#start()
    const dice = this.#chance.number()
    if (!this.#isCalm && dice < 0.08) {
      if (this.#requests.length > 0) this.#cutOff++
      current.isDead = true
    } else if (!this.#isCalm && dice < 0.14) {
      // Silent for too long: another worker continues, and this one goes on later.
      if (this.#requests.length > 0) this.#cutOff++
      current.stopsUntilMs = this.#nowMs + this.#chance.below(20_000)
      this.#start()
    } else if (!this.#isCalm && dice < 0.18 && this.#isAwake(current)) {
      // The attempt takes too long for its retry policy.
      void this.#node(current, this.#line, current.base)
    } else if (dice < 0.6) {
      const able = this.#workers.filter((worker) => this.#isAwake(worker))
      if (able.length > 0) this.#land(able[this.#chance.below(able.length)]!)
    } else if (this.#requests.length > 0) {
      this.#serve(this.#requests[this.#chance.below(this.#requests.length)]!)
    }
  }

  #isAwake({ isDead, stopsUntilMs }: Worker): boolean {
    return !isDead && stopsUntilMs <= this.#nowMs
  }

  /** The first row that a worker sent and that has not landed yet. */
  #land(worker: Worker): void {
    const row = worker.sent[worker.landed]
    const isCurrent = worker.placement === this.#workers.length
    if (!isCurrent && this.#without !== 'current_placement') {
      for (const { ack } of worker.acks) ack.reject(new Error('the execution is over'))
      return
    }
    if (row !== undefined) {
      worker.landed++
      this.#log.push(row)
      if (isCurrent && row.result) this.#resulted(worker, row.result)
      else if (isCurrent && !row.note) this.#base ??= row.base
    }
    for (const { behind, ack } of worker.acks) if (behind <= worker.landed) ack.resolve()
  }

  /** The result of the node is in the log, and with it the execution is over. */
  #resulted(worker: Worker, { kind, paid }: Result): void {
    const line = this.#line
    line.paid.add(paid)
    line.resultOf ||= worker.placement
    worker.isDead = true
    if (kind === 'success') line.end = 'success'
    else this.#waits = 'node'
  }

  #serve(request: Request): void {
    if (!request.hasArrived) {
      request.hasArrived = true
      if (request.path === 'mail') request.line.mails++
      else if (!this.#isKnown(request.key)) request.line.charged.add(request.key)
      return
    }
    this.#requests = this.#requests.filter((each) => each !== request)
    // Each answer is another one, even to a charge that was dropped.
    if (!request.worker.isDead) request.answer.resolve(`answer ${++this.#ids}`)
  }

  /** The receiver drops a charge whose key it knows, whatever line it is for. */
  #isKnown(key: string): boolean {
    return this.#lines.some(({ charged }) => charged.has(key))
  }

  #answer(): void {
    if (this.#waits === 'node') {
      this.#line.hasAnswer = true
      this.#waits = undefined
      return this.#start()
    }
    const decision = ['done', 'do', 'fail'][this.#chance.below(this.#isCalm ? 2 : 3)]!
    if (decision === 'do') this.#line.orders++
    if (decision === 'done') this.#line.saidDone = true
    this.#questions++
    this.#waits = undefined
    this.#start(decision)
  }

  /** A worker begins the node, from what the log knows. */
  #start(answer?: string): void {
    const line = this.#line
    const base = this.#base ?? `c${++this.#ids}`
    const answers = answer === undefined ? [] : [answer]
    const placement = this.#workers.length + 1
    const worker: Worker = { placement, base, sent: [], late: [], acks: [], landed: 0,
      isDead: false, stopsUntilMs: 0, attempt: 0, runner: new EffectRunner({
        thread: { tenant: 'a', threadId: 'b' },
        runId: `r${this.#workers.length}`,
        answer: { scope: answer === undefined ? 'none' : 'one', isUsed: false },
        rules,
        sink: {
          step: ({ value }) => {
            if (!('effect' in value) || !value.effect) return
            const isLate = this.#without === 'receipt_with_result'
              && value.effect.note?.$case === 'settled'
            const rows = isLate ? worker.late : worker.sent
            rows.push({ base, note: value.effect })
          },
          acknowledged: () => this.#acknowledged(worker),
        },
        signal: new AbortController().signal,
        questions: {
          takeAnswer: () => answers.length > 0 ? { value: answers.pop() } : undefined,
          dropAnswer: () => {},
          ask: () => {
            this.#countRepeat(worker, line)
            throw new Waits()
          },
        },
        ignoresKey: () => {},
        nowMs: () => this.#nowMs,
        monotonicMs: () => this.#nowMs,
        after: afterShort,
      }) }
    this.#workers.push(worker)
    if (this.#base === undefined && this.#without !== 'durable_base') worker.sent.push({ base })
    worker.runner.put('', base, { effects: this.#notesOn(base), thrown: [], answered: () => 0 })
    void this.#node(worker, line, base)
  }

  #acknowledged(worker: Worker): Promise<void> {
    if (this.#without === 'intent_first') return Promise.resolve()
    const ack = Promise.withResolvers<void>()
    worker.acks.push({ behind: worker.sent.length, ack })
    return ack.promise
  }

  #notesOn(base: string): EffectNotes {
    const notes = new EffectNotes()
    const known = this.#log.flatMap((row) => row.base === base && row.note ? [row.note] : [])
    for (const [at, note] of known.entries()) {
      const kind = note.note?.$case
      if (this.#without === 'ask_once' && kind === 'intended') continue
      if (this.#without === 'first_receipt' && kind === 'settled'
        && known.slice(at + 1).some((later) => isReceiptOf(later, note))) continue
      notes.add(this.#taskOf(base), note)
    }
    return notes
  }

  #taskOf(base: string): string {
    return this.#without === 'fork_key' ? 'task' : `task of ${base}`
  }

  /** Counts an effect of the line that its results in the log should have spared. */
  #countRepeat({ placement }: Worker, line: Line): void {
    if (line.resultOf > 0 && placement > line.resultOf) line.repeats++
  }

  async #node(worker: Worker, line: Line, base: string): Promise<void> {
    const attempt = ++worker.attempt
    // A model chooses the amount, and not always the same.
    const amount = this.#chance.flip(0.05) ? 30 : 20
    const task = this.#taskOf(base)
    const taskId = this.#without === 'position' ? `${task} ${amount}` : task
    const site = { checkpointNs: '', checkpointId: base, taskId }
    const request = (path: Request['path'], key: string) => {
      const answer = Promise.withResolvers<string>()
      this.#countRepeat(worker, line)
      this.#requests.push({ worker, line, path, key, answer, hasArrived: false })
      return answer.promise
    }
    try {
      const paid = await worker.runner.perform(site, { name: 'charge', input: { amount },
        work: ({ key }) => request('charge', key) })
      await worker.runner.perform(site, { name: 'mail', input: {}, work: ({ key }) =>
        request('mail', key) })
      if (line.asks && !line.hasAnswer) throw new AsksPerson(paid)
      this.#ended(worker, attempt, { kind: 'success', paid })
    } catch (error) {
      if (attempt !== worker.attempt) return
      if (error instanceof Waits) this.#waiting(worker)
      else if (error instanceof AsksPerson) {
        this.#ended(worker, attempt, { kind: 'question', paid: error.paid })
      } else if (worker === this.#current && line === this.#line) line.end = 'failed'
    }
  }

  /** Sends the result of the attempt that counts: it is over when that is in the log. */
  #ended(worker: Worker, attempt: number, result: Result): void {
    if (attempt !== worker.attempt) return
    worker.sent.push({ base: worker.base, result }, ...worker.late.splice(0))
  }

  #waiting(worker: Worker): void {
    if (worker !== this.#current) return
    worker.sent.push(...worker.late.splice(0))
    while (worker.landed < worker.sent.length) this.#land(worker)
    worker.isDead = true
    this.#waits = 'effect'
  }
}

function isReceiptOf({ rule, note }: EffectNote, other: EffectNote): boolean {
  return note?.$case === 'settled' && rule === other.rule
}

/** The promises about effects that a line of history breaks. */
function faultsOf(
  { end, charged, mails, orders, saidDone, repeats, paid }: Line,
): string[] {
  const faults: string[] = []
  if (charged.size > 1) faults.push(`charged ${charged.size} times`)
  if (mails > 1 + orders) faults.push(`${mails} mails after ${orders} orders`)
  if (repeats > 0) faults.push(`${repeats} effects again, of which a result was in the log`)
  if (paid.size > 1) faults.push(`${paid.size} answers to one charge`)
  if (end === 'success' && charged.size === 0) faults.push('not charged')
  if (end === 'success' && mails === 0 && !saidDone) faults.push('no mail')
  return faults
}

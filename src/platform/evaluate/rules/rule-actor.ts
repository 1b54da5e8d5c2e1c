/**
 * The rule actor: it alone acts for one rule. It sleeps until spans have ended.
 *
 * A pass runs beside the mailbox. Its state is a record whose version rises with each change, so
 * that an owner before, which does not know yet that it is one, can move nothing. It is no
 * `OwnedRow`: that is written only by turns of the mailbox, and a pass writes beside it.
 */

import { Backoff } from '../../../../cluster/index.ts'
import type { Actor, ActorContext, ActorKind, ActorWire, Env,
  Turn } from '../../../../cluster/index.ts'
import type { RuleEvaluator } from '../../../api/index.ts'
import { HeddleError } from '../../../errors.ts'
import { rawValues } from '../../../json/index.ts'
import type { CautiousClock } from '../../../limits/index.ts'
import type { Uuid } from '../../spans/span.ts'
import { endedPlace, keptHours } from '../../ingest/ended/ended-span.ts'
import { checkAlerts } from './rule-alert.ts'
import { dropLog, writeLog } from './rule-log.ts'
import { hasYounger, readAll } from './rule-pass.ts'
import type { PassParts, RuleInPass } from './rule-pass.ts'
import { ownerOf } from './rule.ts'
import type { Rule } from './rule.ts'
import type { RuleName, RuleRecords } from './rule-records.ts'
import { decideRule, hoursLeft, isAhead, rollOverDay, unbegun } from './rule-state.ts'
import type { RuleCommand, RuleEffect, RuleState, SpanOutcome } from './rule-state.ts'

/** Name of the actor kind. */
export const ruleKindName = 'rule'

/** A command to a rule. All but `look` are answered with its state. */
export type RuleActorCommand =
  /** Spans ended, or the rule was changed. */
  | { readonly kind: 'look' }
  | { readonly kind: 'get' }
  | Extract<RuleCommand, { readonly kind: 'begin' | 'trigger' }>
  /** Removes what is left of a rule that was deleted. */
  | { readonly kind: 'drop'; readonly owner: Uuid | '' }

/** Dependencies of the rule actors of one member, available while its platform is open. */
export interface RuleEngine {
  readonly records: RuleRecords
  readonly pass: PassParts
  /** The clock by which days of spend limits end, and by which ends of spans are filed. */
  readonly cautiousNowMs: CautiousClock
  /** The evaluators of a rule: its own, and the kept one that it names. */
  evaluatorsOf(tenant: string, rule: Rule): Promise<readonly RuleEvaluator[]>
}

/** Ports of the rules of one member. */
export interface RuleActorParts {
  /** Undefined until the platform is open, and when it closes. */
  readonly engine: () => RuleEngine | undefined
  readonly env: Env
}

/** All commands and replies are plain data. */
export const ruleWire: ActorWire = { values: rawValues }

/** The actor kind of rules. */
export function ruleKind(parts: RuleActorParts): ActorKind<RuleActorCommand> {
  return { name: ruleKindName, wire: ruleWire, create: (context) => new RuleActor(context, parts) }
}

/** Pauses after a pass that failed. */
const pauses = { firstMs: 1_000, longestMs: 60_000 }
/** Milliseconds after which alerts that fire are measured again. */
const measureMs = 15_000

class RuleActor implements Actor<RuleActorCommand> {
  readonly #context: ActorContext<RuleActorCommand>
  readonly #parts: RuleActorParts
  readonly #name: RuleName
  readonly #backoff: Backoff
  readonly #known = new Map<Uuid, SpanOutcome>()
  #state: RuleState = unbegun
  /** The last change failed: perhaps it is stored. */
  #isUnsure = false
  /** Changes of the state, one after the other. */
  #saving: Promise<unknown> = Promise.resolve()
  #pass: { readonly controller: AbortController; readonly ended: Promise<void> } | undefined
  #stopTimer: (() => void) | undefined
  #timerMs = Infinity

  constructor(context: ActorContext<RuleActorCommand>, parts: RuleActorParts) {
    this.#context = context
    this.#parts = parts
    this.#name = { tenant: context.key.tenant, id: context.key.id }
    this.#backoff = new Backoff(parts.env, pauses)
  }

  get occupied(): boolean {
    return this.#pass !== undefined || this.#stopTimer !== undefined
  }

  async activate(): Promise<void> {
    this.#state = await this.#engine().records.state(this.#name) ?? unbegun
  }

  async receive(command: RuleActorCommand): Promise<Turn> {
    switch (command.kind) {
      case 'look':
        this.#lookIn(this.#engine().pass.lagMs + 50)
        return { reply: null }
      case 'get':
        return { reply: this.#state, kind: 'read' }
      case 'begin':
        await this.#decide(command)
        return { reply: this.#state }
      case 'trigger':
        await this.#decide(command)
        this.#lookIn(0)
        return { reply: this.#state }
      case 'drop':
        await this.#drop(command.owner)
        return { reply: this.#state }
    }
  }

  /** Aborts the pass in progress; the next owner does it again, with the same effects. */
  async passivate(): Promise<void> {
    this.#stopLooking()
    this.#pass?.controller.abort(new HeddleError('not_owner'))
    await this.#pass?.ended
  }

  #engine(): RuleEngine {
    const engine = this.#parts.engine()
    if (engine === undefined) throw new HeddleError('unavailable')
    return engine
  }

  #stopLooking(): void {
    this.#stopTimer?.()
    this.#stopTimer = undefined
    this.#timerMs = Infinity
  }

  /** Looks then, or earlier if that was planned. */
  #lookIn(ms: number): void {
    const atMs = this.#parts.env.monotonicMs() + ms
    if (atMs >= this.#timerMs) return
    this.#stopLooking()
    this.#timerMs = atMs
    this.#stopTimer = this.#parts.env.after(ms, () => {
      this.#stopLooking()
      if (this.#pass === undefined) this.#begin()
      else this.#lookIn(500)
    })
  }

  #begin(): void {
    const controller = new AbortController()
    const ended = this.#run(controller.signal).then((nextMs) => {
      this.#backoff.reset()
      return nextMs
    }, (error: unknown) => {
      const { code } = HeddleError.from(error)
      if (controller.signal.aborted || this.#parts.engine() === undefined) return undefined
      if (code === 'stale') this.#context.fail(new HeddleError('not_owner'))
      else {
        this.#parts.env.log.warn('A rule could not go on; it is tried again.', {
          key: this.#context.key,
          error,
        })
      }
      return this.#backoff.nextMs()
    }).then((nextMs) => {
      this.#pass = undefined
      if (nextMs !== undefined && !controller.signal.aborted) this.#lookIn(nextMs)
    })
    this.#pass = { controller, ended }
  }

  /** A pass. Answers when to look again; undefined when there is nothing to wait for. */
  async #run(signal: AbortSignal): Promise<number | undefined> {
    const { records, pass, evaluatorsOf } = this.#engine()
    const { tenant, id } = this.#name
    const rule = await records.get(tenant, id)
    if (rule === undefined || !rule.is_enabled) {
      await records.awake.remove(this.#name)
      return undefined
    }
    if (this.#state.cursor === '') await this.#decide({ kind: 'begin' })
    else if (isAhead(this.#state, pass.env.nowMs())) await this.#decide({ kind: 'go_back' })
    const keeper = { decide: (command: RuleCommand) => this.#decide(command) }
    const here: RuleInPass = { tenant, rule, evaluators: await evaluatorsOf(tenant, rule),
      known: this.#known, keeper: Object.defineProperty(keeper, 'state', {
        get: () => this.#state,
      }) as RuleInPass['keeper'] }
    await readAll(pass, here, signal)
    await checkAlerts(pass, here, signal)
    if (await hasYounger(pass, here)) return pass.lagMs
    return Object.keys(this.#state.firing).length > 0 ? measureMs : undefined
  }

  /** Changes the state. Its effects come first. */
  #decide(command: RuleCommand): Promise<number> {
    const work = this.#saving.then(async () => {
      const { records, pass: { env }, cautiousNowMs } = this.#engine()
      if (this.#isUnsure) this.#state = await records.state(this.#name) ?? unbegun
      this.#isUnsure = false
      const today = rollOverDay(this.#state, cautiousNowMs())
      // Ends are filed by a cautious clock. A rule that starts behind it skips none.
      const follows = command.kind === 'begin' || command.kind === 'go_back'
      const nowMs = follows ? cautiousNowMs() : env.nowMs()
      const { state, effects, granted } = decideRule(today, command, nowMs)
      for (const effect of effects) await this.#perform(effect)
      this.#isUnsure = true
      await records.saveState(this.#name, state)
      this.#isUnsure = false
      this.#state = state
      return granted
    })
    this.#saving = work.catch(() => {})
    return work
  }

  async #perform(effect: RuleEffect): Promise<void> {
    const { pass: { documents }, records } = this.#engine()
    const { tenant, id } = this.#name
    if (effect.kind === 'log') {
      await writeLog(documents, tenant, id, effect.entries, effect.forget)
      return
    }
    const rule = await records.get(tenant, id)
    if (rule !== undefined) await this.#dropHours(ownerOf(rule), effect.from, effect.before)
  }

  async #dropHours(owner: Uuid | '', from: number, before: number): Promise<void> {
    if (owner === '') return
    const { pass: { documents } } = this.#engine()
    for (let hour = Math.max(from, before - 2 * keptHours); hour < before; hour++) {
      await documents.dropDocuments(endedPlace(this.#name.tenant, owner, hour))
    }
  }

  async #drop(owner: Uuid | ''): Promise<void> {
    this.#stopLooking()
    this.#pass?.controller.abort(new HeddleError('not_owner'))
    await this.#pass?.ended
    const { records, pass: { documents }, cautiousNowMs } = this.#engine()
    await dropLog(documents, this.#name.tenant, this.#name.id)
    await records.deleteState(this.#name)
    await records.awake.remove(this.#name)
    this.#state = unbegun
    const others = owner === ''
      ? []
      : (await records.all(this.#name.tenant)).filter((rule) => ownerOf(rule) === owner)
    if (others.length === 0) await this.#dropHours(owner, ...hoursLeft(cautiousNowMs()))
    this.#context.sleep()
  }
}

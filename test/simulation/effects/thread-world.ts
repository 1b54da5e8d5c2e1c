/** A thread with effects, whose runs are resumed, removed, moved, copied and killed by chance. */

import { interrupt, MessagesAnnotation, Annotation, START, StateGraph } from '@langchain/langgraph'

import { systemEnv } from '../../../cluster/index.ts'
import { effectRulesOf } from '../../../src/graph/effect-rule.ts'
import type { Execution, GraphHost } from '../../../src/graph/index.ts'
import { EngineHost } from '../../support/engine-host.ts'
import { EngineThread, PointedHost } from '../../support/engine-thread.ts'
import { effect, isInterrupt, post } from '../../support/node-effects.ts'
import type { StartRun } from '../../../src/thread/index.ts'
import { aRun, settled } from '../../support/thread-house.ts'
import { Chance } from '../chance.ts'
import { ThreadLife } from './thread-life.ts'
import type { Asked, Keys, Label } from './thread-life.ts'

/** The result of a sequence. */
export interface SequenceOutcome {
  /** Broken promises. */
  readonly findings: readonly string[]
  /** The actions, and what the receivers got, to read a finding. */
  readonly trace: readonly string[]
  /** True if the node returned in the end. */
  readonly hasEnded: boolean
}

const host = 'https://bank.example.org/v1'
const others = [{ name: 'mail', once: 'ask' }, { name: 'door', once: 'ask' }, { name: 'model',
  keep: 'answer' }] as const
/** The pattern of charges differs by revision. */
const revisions = [`POST ${host}/charges`, `POST ${host}/*`]
  .map((match) => effectRulesOf([{ match, once: 'key' }, ...others]))

/** Resume values of a node's interrupts start with these words. */
const words: Readonly<Record<string, string>> = { 'Which order?': 'order',
  'Delete everything?': 'sure' }

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  out: Annotation<unknown[]>({ reducer: (kept, more) => kept.concat(more), default: () => [] }),
})

const actionsMax = 14
const calmActionsMax = 16
/** Rounds of the event loop after which a thread counts as stuck. */
const roundsMax = 400
/** Runs of a copy. */
const copyRunsMax = 6

/** A member with the workers of each revision. */
class Member extends PointedHost {
  readonly workers: readonly EngineHost[]
  readonly #starts: (execution: Execution) => void

  constructor(graph: () => unknown, revision: number, starts: (execution: Execution) => void) {
    const workers = revisions.map((rules) => new EngineHost(graph(), { rules, env }))
    super(workers[revision]!)
    this.workers = workers
    this.#starts = starts
  }

  override execute(...all: Parameters<GraphHost['execute']>): void {
    this.#starts(all[0])
    super.execute(...all)
  }
}

const real = systemEnv({ name: 'test' })
/** Short pauses of the effects take no time. */
const env = { ...real, after: (ms: number, work: () => void) => {
  if (ms >= 1_000) return real.after(ms, work)
  const soon = setImmediate(() => void settled().then(work))
  return () => clearImmediate(soon)
} }

/** Simulates the sequence of a seed. */
export async function simulateThread(seed: number): Promise<SequenceOutcome> {
  const world = new ThreadWorld(new Chance(seed))
  await world.live()
  return world.outcome
}

class ThreadWorld {
  readonly #chance: Chance
  readonly #thread: EngineThread
  readonly #members: Member[]
  readonly #findings: string[] = []
  readonly #trace: string[] = []
  readonly #keys: Keys = new Map()
  /** The thread and its copies. */
  readonly #lives = new Map([['x', new ThreadLife(this.#keys)]])
  #held: ((how: 'done' | 'failed') => void)[] = []
  /** The question that a person has seen last. */
  #question: unknown
  #member = 0
  #revision = 0
  #count = 0
  /** True if the node asks before its effects as well. */
  readonly #asksFirst: boolean
  /** True if the node is one of a subgraph. */
  readonly #isNested: boolean
  /** True if the node has two effects of one name in progress at once. */
  readonly #hasDoors: boolean
  #isCalm = false
  #hasEnded = false

  constructor(chance: Chance) {
    this.#chance = chance
    this.#asksFirst = chance.flip(0.6)
    this.#isNested = chance.flip(0.3)
    this.#hasDoors = chance.flip(0.3)
    this.#members = [this.#newMember(), this.#newMember()]
    this.#thread = new EngineThread(() => this.#members[this.#member]!)
  }

  get outcome(): SequenceOutcome {
    return { findings: this.#findings, trace: this.#trace, hasEnded: this.#hasEnded }
  }

  async live(): Promise<void> {
    await this.#thread.start({ input: { out: [] } })
    for (let at = 0; at < actionsMax + calmActionsMax; at++) {
      this.#isCalm = at >= actionsMax
      if (!await this.#rests() || await this.#isOver()) break
      if (this.#held.length > 0) await this.#disturb()
      else await this.#continue()
    }
    for (const member of this.#members) this.#kill(member)
  }

  // The actions

  /** Something happens to a run that executes: a receiver has its request. */
  async #disturb(): Promise<void> {
    const runId = await this.#runningId()
    const act = this.#isCalm
      ? 'done'
      : this.#chance.pick(
        ['done', 'done', 'done', 'failed', 'failed', 'kill', 'kill', 'move', 'cancel', 'remove',
          'remove', 'supersede', 'answer', 'inject', 'inject', 'revision', 'copy'] as const,
      )
    this.#log(act)
    if (act === 'inject') return await this.#inject()
    if (act === 'copy') return await this.#copy()
    if (act === 'revision') return this.#activate(1 - this.#revision)
    if (act === 'done' || act === 'failed') return this.#held.shift()!(act)
    this.#held = []
    if (act === 'kill') return this.#die()
    if (act === 'move') return await this.#move(AbortSignal.abort())
    if (act === 'supersede' || act === 'answer') {
      const strategy = this.#chance.pick(['rollback', 'interrupt'] as const)
      if (strategy === 'rollback') this.#life.forget(runId)
      // The run may have ended with a question while a receiver still has a request.
      const [newest] = await this.#thread.asks()
      if (newest !== undefined) this.#sees(newest)
      const question = this.#question
      if (act === 'answer' && question !== undefined) {
        return await this.#resume(question, { strategy })
      }
      await this.#thread.start({ input: null }, { strategy })
    } else if (runId !== undefined) {
      if (act === 'remove') this.#life.forget(runId)
      await this.#thread.chain.client.cancelRun('t', 'x', runId, {
        action: act === 'remove' ? 'rollback' : 'interrupt',
      }).catch(() => {})
    }
  }

  /** Something happens to a thread that rests. */
  async #continue(): Promise<void> {
    const [question] = await this.#thread.asks()
    this.#sees(question)
    const acts = question === undefined
      ? ['retry', 'retry', 'input'] as const
      : ['resume', 'resume', 'resume', 'resume', 'retry'] as const
    const act = this.#isCalm
      ? acts[0]
      : this.#chance.pick([...acts, 'revision', 'move', 'kill', 'inject', 'copy'] as const)
    this.#log(act)
    if (act === 'resume') return await this.#resume(question)
    if (act === 'retry') return void await this.#thread.start({ input: null })
    if (act === 'input') return void await this.#thread.start({ input: { out: [] } })
    if (act === 'revision') return this.#activate(1 - this.#revision)
    if (act === 'inject') return await this.#inject()
    if (act === 'copy') return await this.#copy()
    if (act === 'move') return await this.#move(new AbortController().signal)
    this.#die()
  }

  #sees(question: unknown): void {
    this.#question = question
    const asked = askedIn(question)
    if (asked) this.#life.asks(asked)
  }

  /** A person gives a value for a question. The thread may execute a run meanwhile. */
  async #resume(question: unknown, more: Partial<StartRun> = {}): Promise<void> {
    const value = this.#valueFor(this.#life, question)
    this.#life.named(await this.#thread.start({ command: { resume: value } }, more))
  }

  #valueFor(life: ThreadLife, question: unknown): string {
    const asked = askedIn(question)
    const value = asked === undefined
      ? `${words[String(question)]} ${++this.#count}`
      : this.#chance.pick(this.#isCalm ? ['done', 'do'] : ['done', 'do', 'do', 'fail', 'perhaps'])
    this.#log(`  ${asked?.label ?? String(question)}: ${value}`)
    if (asked === undefined) life.gives(value)
    else life.decides(value)
    return value
  }

  /** A copy of the thread lives for a while, with receivers that respond at once. */
  async #copy(): Promise<void> {
    const copy = await this.#thread.copy()
    const life = this.#life.copy()
    this.#lives.set(copy.id, life)
    for (let runs = 0; runs < copyRunsMax; runs++) {
      const [question] = await copy.asks()
      const asked = askedIn(question)
      if (asked) life.asks(asked)
      const kwargs = question === undefined || this.#chance.flip(0.2)
        ? { input: null }
        : { command: { resume: this.#valueFor(life, question) } }
      const runId = await copy.start(kwargs)
      life.named(runId)
      await copy.ended(runId)
      if (((await copy.values()) as { readonly out?: readonly unknown[] }).out?.length) break
    }
    this.#log('copied')
  }

  async #inject(): Promise<void> {
    const message = { role: 'user', content: 'by the way', id: `m${++this.#count}` }
    await this.#thread.start({ input: { messages: [message] } }, { ifMissing: 'reject',
      plan: { ...aRun('').plan, injects: true } }).catch(() => {})
  }

  #activate(revision: number): void {
    this.#revision = revision
    for (const member of this.#members) member.current = member.workers[revision]!
  }

  async #move(deadline: AbortSignal): Promise<void> {
    this.#member = 1 - this.#member
    await this.#thread.chain.handOver(deadline)
  }

  /** The member dies. Another process takes its place, or the other member takes over. */
  #die(): void {
    this.#kill(this.#members[this.#member]!)
    this.#members[this.#member] = this.#newMember()
    if (this.#chance.flip(0.5)) this.#member = 1 - this.#member
    this.#thread.chain.kill()
  }

  #kill({ workers }: Member): void {
    for (const worker of workers) worker.kill()
  }

  #newMember(): Member {
    const asks = () =>
      new StateGraph(State)
        .addNode('asks', (_, { configurable }) => this.#node(String(configurable!['thread_id'])))
        .addEdge(START, 'asks').compile()
    const graph = () =>
      this.#isNested
        ? new StateGraph(State).addNode('team', asks()).addEdge(START, 'team').compile()
        : asks()
    return new Member(graph, this.#revision, (execution) => this.#starts(execution))
  }

  // The observation of the thread

  /** Resolves when a receiver has a request, or no run is left; with false if neither happens. */
  async #rests(): Promise<boolean> {
    for (let round = 0; round < roundsMax; round++) {
      await settled()
      if (this.#held.length > 0) return true
      const { row: { status } } = await this.#thread.chain.client.get('t', 'x')
      if (status !== 'busy') return true
    }
    this.#findings.push('the thread is stuck')
    return false
  }

  async #isOver(): Promise<boolean> {
    const { out = [] } = await this.#thread.values() as { readonly out?: readonly unknown[] }
    const { row: { status } } = await this.#thread.chain.client.get('t', 'x')
    this.#hasEnded = out.length > 0 && status === 'idle'
    return this.#hasEnded
  }

  async #runningId(): Promise<string | undefined> {
    const runs = await this.#thread.chain.client.listRuns({ tenant: 't', threadId: 'x', limit: 9,
      offset: 0 })
    return runs.find(({ status }) => status === 'running')?.runId
  }

  get #life(): ThreadLife {
    return this.#lives.get('x')!
  }

  #starts({ request, runId, threadId }: Execution): void {
    this.#log(`  [${request.kind} ${runId.slice(-2)}${threadId === 'x' ? '' : ' of a copy'}]`)
    if (request.kind !== 'run' || request.input === 'null') return
    this.#lives.get(threadId)!.begin(runId)
  }

  // The node, and the receivers of its effects

  async #node(threadId: string): Promise<object> {
    const order = this.#asksFirst ? this.#resumed(threadId, 'Which order?') : 'any order'
    await effect('model', { order }, () => 'fine')
    // A model chooses the amount, and not always the same.
    const amount = this.#chance.flip(0.1) ? 30 : 20
    await this.#tries((less) => this.#charge(threadId, { order, amount: amount - less }))
    await this.#tries((less) => this.#once(threadId, 'mail', { order, less }))
    if (this.#hasDoors) {
      await Promise.all(
        ['a', 'b'].map((door) => this.#once(threadId, `door ${door}` as Label, { order, door })),
      )
    }
    return { out: [order, this.#resumed(threadId, 'Delete everything?')] }
  }

  /** The retry of the code itself, with the same input or with another one. */
  async #tries(act: (less: number) => Promise<unknown>): Promise<void> {
    try {
      await act(0)
    } catch (error) {
      const dice = this.#chance.number()
      if (isInterrupt(error) || dice < 0.4) throw error
      await act(dice < 0.8 ? 1 : 0)
    }
  }

  #resumed(threadId: string, question: string): string {
    const value = interrupt<string, unknown>(question)
    const isOwn = typeof value === 'string' && value.startsWith(`${words[question]} `)
    if (!isOwn || !this.#lives.get(threadId)!.isGiven(value)) {
      this.#find(`"${String(value)}" is used for "${question}"`)
    }
    return String(value)
  }

  async #charge(threadId: string, body: object): Promise<unknown> {
    return await post({ url: `${host}/charges`, body, receive: async (key = '') => {
      await this.#receives(threadId, 'charge', { key, text: JSON.stringify(body) })
      return [200, 'paid']
    } })
  }

  async #once(threadId: string, label: Label, input: object): Promise<unknown> {
    return await effect(label.split(' ')[0]!, input, async () => {
      await this.#receives(threadId, label, { text: JSON.stringify(input) })
      return 'sent'
    })
  }

  /** The receiver has the request. Its response may be lost, or take its time. */
  async #receives(threadId: string, label: Label,
    request: { readonly key?: string; readonly text: string }): Promise<void> {
    this.#log(`  ${label} ${request.text} ${request.key?.slice(0, 8) ?? ''}`)
    for (const finding of this.#lives.get(threadId)!.receives(label, request)) this.#find(finding)
    const dice = this.#isCalm ? 0 : this.#chance.number()
    if (dice < 0.4) return
    const isLost = dice < 0.55
    const how = isLost || threadId !== 'x'
      ? isLost ? 'failed' : 'done'
      : await new Promise<string>((resolve) => {
        this.#held.push(resolve)
      })
    if (how === 'failed') throw new Error('reset')
  }

  #log(line: string): void {
    this.#trace.push(line)
  }

  #find(finding: string): void {
    this.#findings.push(finding)
    this.#log(`! ${finding}`)
  }
}

/** The effect that a question is about; undefined for a question of the node. */
function askedIn(question: unknown): Asked | undefined {
  const { effect: rule, input } = Object(question) as { readonly effect?: string;
    readonly input?: { readonly door?: string; readonly body?: object } }
  if (rule === undefined) return undefined
  const text = JSON.stringify(input?.body ?? input)
  if (rule === 'door') return { label: `door ${input!.door!}` as Label, text }
  return { label: rule.startsWith('POST') ? 'charge' : 'mail', text }
}

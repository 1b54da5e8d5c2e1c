/** One thread with three effects, whose runs are resumed, removed, moved and killed by chance. */

import { interrupt, MessagesAnnotation, Annotation, START, StateGraph } from '@langchain/langgraph'

import { systemEnv } from '../../../cluster/index.ts'
import { effectRulesOf } from '../../../src/graph/effect-rule.ts'
import type { Execution, GraphHost } from '../../../src/graph/index.ts'
import { EngineHost } from '../../support/engine-host.ts'
import { EngineThread, PointedHost } from '../../support/engine-thread.ts'
import { effect, isInterrupt, post } from '../../support/node-effects.ts'
import { aRun, settled } from '../../support/thread-house.ts'
import { Chance } from '../chance.ts'

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
const others = [{ name: 'mail', once: 'ask' }, { name: 'model', keep: 'answer' }] as const
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

type Outside = 'charge' | 'mail'

/** What the receivers got since an input. */
interface Epoch {
  readonly runId: string
  readonly before: Epoch | undefined
  readonly keys: Set<string>
  mails: number
  /** Decisions of persons that allow one more. */
  readonly allowed: Record<Outside, number>
}

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
  /** Bodies by key. */
  readonly #bodies = new Map<string, string>()
  /** Resume values by run, without removed runs, and the epochs of their questions. */
  readonly #values = new Map<string, { readonly value: string; readonly epoch: Epoch }>()
  #held: ((how: 'done' | 'failed') => void)[] = []
  #epoch: Epoch | undefined
  #member = 0
  #revision = 0
  #count = 0
  /** True if the node asks before its effects as well. */
  readonly #asksFirst: boolean
  #isCalm = false
  #hasEnded = false

  constructor(chance: Chance) {
    this.#chance = chance
    this.#asksFirst = chance.flip(0.6)
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
          'remove', 'supersede', 'inject', 'inject', 'revision'] as const,
      )
    this.#log(act)
    if (act === 'inject') return await this.#inject()
    if (act === 'revision') return this.#activate(1 - this.#revision)
    const [release] = this.#held.splice(0)
    if (act === 'done' || act === 'failed') return release!(act)
    if (act === 'kill') return this.#die()
    if (act === 'move') return await this.#move(AbortSignal.abort())
    if (act === 'supersede') {
      const strategy = this.#chance.pick(['rollback', 'interrupt'] as const)
      if (strategy === 'rollback') this.#forget(runId)
      await this.#thread.start({ input: null }, { strategy })
    } else if (runId !== undefined) {
      if (act === 'remove') this.#forget(runId)
      await this.#thread.chain.client.cancelRun('t', 'x', runId, {
        action: act === 'remove' ? 'rollback' : 'interrupt',
      }).catch(() => {})
    }
  }

  /** Something happens to a thread that rests. */
  async #continue(): Promise<void> {
    const [question] = await this.#thread.asks()
    const acts = question === undefined
      ? ['retry', 'retry', 'input'] as const
      : ['resume', 'resume', 'resume', 'resume', 'retry'] as const
    const act = this.#isCalm
      ? acts[0]
      : this.#chance.pick([...acts, 'revision', 'move', 'kill'] as const)
    this.#log(act)
    if (act === 'resume') return await this.#resume(question)
    if (act === 'retry') return void await this.#thread.start({ input: null })
    if (act === 'input') return void await this.#thread.start({ input: { out: [] } })
    if (act === 'revision') return this.#activate(1 - this.#revision)
    if (act === 'move') return await this.#move(new AbortController().signal)
    this.#die()
  }

  async #resume(question: unknown): Promise<void> {
    const { effect: rule } = Object(question) as { readonly effect?: string }
    if (rule === undefined) {
      const value = `${words[String(question)]} ${++this.#count}`
      this.#log(`  ${String(question)} ${value}`)
      // Before the run starts: the node may get the value at once.
      const given = { value, epoch: this.#epoch! }
      this.#values.set('next', given)
      const runId = await this.#thread.start({ command: { resume: value } })
      this.#values.delete('next')
      this.#values.set(runId, given)
      return
    }
    const decision = this.#chance.pick(
      this.#isCalm ? ['done', 'do'] : ['done', 'do', 'do', 'fail', 'perhaps'],
    )
    const name = rule.startsWith('POST') ? 'charge' : 'mail'
    this.#log(`  ${name}: ${decision}`)
    if (decision === 'do' || decision === 'fail') this.#epoch!.allowed[name]++
    await this.#thread.start({ command: { resume: decision } })
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
    const graph = () =>
      new StateGraph(State).addNode('asks', () => this.#node()).addEdge(START, 'asks').compile()
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

  /** A run that is removed takes its resume value, or its input, with it. */
  #forget(runId: string | undefined): void {
    this.#values.delete(runId ?? '')
    if (this.#epoch && this.#epoch.runId === runId) this.#epoch = this.#epoch.before
  }

  /** An execution with an input makes new tasks, with effects of their own. */
  #starts({ request, runId }: Execution): void {
    this.#log(`  [${request.kind} ${runId.slice(-2)}]`)
    if (request.kind !== 'run' || request.input === 'null') return
    this.#epoch = { runId, before: this.#epoch, keys: new Set(), mails: 0,
      allowed: { charge: 0, mail: 0 } }
  }

  // The node, and the receivers of its effects

  async #node(): Promise<object> {
    const order = this.#asksFirst ? this.#resumed('Which order?') : 'any order'
    await effect('model', { order }, () => 'fine')
    // A model chooses the amount, and not always the same.
    const amount = this.#chance.flip(0.1) ? 30 : 20
    await this.#tries((less) => this.#charge({ order, amount: amount - less }))
    await this.#tries((less) => this.#mail({ order, less }))
    return { out: [order, this.#resumed('Delete everything?')] }
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

  #resumed(question: string): string {
    const value = interrupt<string, unknown>(question)
    const isOwn = typeof value === 'string' && value.startsWith(`${words[question]} `)
    const isGiven = [...this.#values.values()]
      .some((given) => given.value === value && given.epoch === this.#epoch)
    if (!isOwn || !isGiven) {
      this.#find(`"${String(value)}" is used for "${question}"`)
    }
    return String(value)
  }

  async #charge(body: object): Promise<unknown> {
    return await post({ url: `${host}/charges`, body, receive: async (key = '') => {
      const text = JSON.stringify(body)
      this.#log(`  charge ${text} ${key.slice(0, 8)}`)
      const { keys, allowed } = this.#epoch!
      keys.add(key)
      if (key === '') this.#find('a charge has no key')
      if (keys.size > 1 + allowed.charge) this.#find(`${keys.size} keys for one charge`)
      if ((this.#bodies.get(key) ?? text) !== text) this.#find('one key for two bodies')
      this.#bodies.set(key, text)
      await this.#receives()
      return [200, 'paid']
    } })
  }

  async #mail(input: object): Promise<unknown> {
    return await effect('mail', input, async () => {
      this.#log(`  mail ${JSON.stringify(input)}`)
      const epoch = this.#epoch!
      if (++epoch.mails > 1 + epoch.allowed.mail) this.#find(`${epoch.mails} mails`)
      await this.#receives()
      return 'sent'
    })
  }

  /** The receiver has the request. Its response may be lost, or take its time. */
  async #receives(): Promise<void> {
    const dice = this.#isCalm ? 0 : this.#chance.number()
    if (dice < 0.4) return
    const how = dice < 0.55 ? 'failed' : await new Promise<string>((resolve) => {
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

/** A graph host that executes one graph in this process, by the inside of a worker. */

import { AsyncResource } from 'node:async_hooks'

import * as langgraph from '@langchain/langgraph'

import { HeddleError } from '../../src/errors.ts'
import { offerEffects } from '../../src/graph/effects/effect-form.ts'
import type { EffectRule } from '../../src/graph/effect-rule.ts'
import type { CheckpointSource, Execution, ExecutionListener, GraphDescription, GraphHost,
  LoggedLines, PauseReason, SnapshotAnswer, StateQuestion } from '../../src/graph/index.ts'
import { JobRunner } from '../../src/graph/pool/job-runner.ts'
import { MessagePortBatcher } from '../../src/graph/pool/message-port-batcher.ts'
import { readFrom, resultOf, unwrap } from '../../src/graph/pool/worker-mail.ts'
import type { Result, ToWorker, WorkerMail } from '../../src/graph/pool/worker-mail.ts'
import { systemEnv } from '../../cluster/index.ts'
import type { Env } from '../../cluster/index.ts'
import { GraphBench } from './graph-bench.ts'

interface Job {
  readonly execution: Execution
  readonly source: CheckpointSource
  readonly listener: ExecutionListener
}

/** A question about the state of a thread. */
interface Inquiry {
  readonly source: CheckpointSource
  readonly resolve: (result: Result<unknown>) => void
}

/** Jobs of questions have numbers above those of executions. */
const firstInquiry = 1e9

/** Options of a host. */
export interface EngineHostOptions {
  readonly rules?: readonly EffectRule[]
  readonly env?: Env
  /** Default: `agent`. */
  readonly graphId?: string
  /**
   * Carries each mail between the host and the inside of the worker, in the order of the calls. By
   * default mails arrive at once.
   */
  readonly carry?: (deliver: () => void) => void
}

/** The engine, the saver, the effects and the memory of one worker, without its thread. */
export class EngineHost implements GraphHost {
  readonly #graphs: readonly GraphDescription[]
  /** Gives the runner a mail, outside of the context of any job: as a port does. */
  readonly #post: (mail: ToWorker) => void
  readonly #jobs = new Map<number, Job>()
  readonly #inquiries = new Map<number, Inquiry>()
  #asked = 0
  #isDead = false

  constructor(graph: unknown,
    { rules = [], graphId = 'agent', env = systemEnv({ name: 'test' }),
      carry = (deliver) => deliver() }: EngineHostOptions = {}) {
    const { bench } = new GraphBench(graph)
    this.#graphs = [{ ...bench.describe(graphId)!, graphId }]
    const offered = offerEffects(rules, env)
    const form = offered?.over(langgraph)
    const batcher = new MessagePortBatcher((mails) => {
      const copies = structuredClone(mails)
      carry(() => {
        for (const mail of copies) this.#hear(mail)
      })
    })
    const lines = { during: <Result>(_job: number, work: () => Promise<Result>) => work() }
    const runner = new JobRunner(bench, { batcher, lines }, env, { entered: new Int32Array(2) },
      form && { openEffects: form.open, openGates: [...offered!.gates, form.gate] })
    this.#post = AsyncResource.bind((mail: ToWorker) => carry(() => runner.receive(mail)))
  }

  graphs(): readonly GraphDescription[] {
    return this.#graphs
  }

  describe(graphId: string): GraphDescription | undefined {
    return this.#graphs.find((graph) => graph.graphId === graphId)
  }

  execute(execution: Execution, source: CheckpointSource, listener: ExecutionListener): void {
    this.#jobs.set(execution.id, { execution, source, listener })
    this.#post({ type: 'execute', job: execution.id, warm: true,
      execution: structuredClone(execution) })
  }

  pause(executionId: number, why?: PauseReason): void {
    if (this.#jobs.has(executionId)) this.#post({ type: 'pause', job: executionId, why })
  }

  abort(executionId: number): void {
    if (this.#jobs.delete(executionId)) this.#post({ type: 'abort', job: executionId })
  }

  stop(executionId: number): void {
    if (this.#jobs.has(executionId)) this.#post({ type: 'stop', job: executionId })
  }

  /** Kills the worker: what its code sends from now on is dropped. */
  kill(): void {
    this.#isDead = true
    this.#jobs.clear()
  }

  logs(): LoggedLines {
    return { lines: [], dropped: 0, truncated: false }
  }

  async ask(graphId: string, threadId: string, question: StateQuestion,
    source: CheckpointSource): Promise<SnapshotAnswer[]> {
    const job = firstInquiry + ++this.#asked
    const { promise, resolve } = Promise.withResolvers<Result<unknown>>()
    this.#inquiries.set(job, { source, resolve })
    this.#post({ type: 'inquire', job, inquiry: structuredClone(
      { kind: 'state', graphId, threadId, question } as const,
    ) })
    return unwrap(await promise, 'internal') as SnapshotAnswer[]
  }

  schemas = refused
  subgraphSchemas = refused
  drawable = refused

  #hear(mail: WorkerMail): void {
    const inquiry = 'job' in mail ? this.#inquiries.get(mail.job) : undefined
    if (inquiry !== undefined && !this.#isDead) {
      if (mail.type === 'read') void this.#read(mail.reading, inquiry.source, mail.what)
      if (mail.type !== 'answer') return
      this.#inquiries.delete(mail.job)
      return inquiry.resolve(mail.result)
    }
    const job = 'job' in mail ? this.#jobs.get(mail.job) : undefined
    if (this.#isDead || job === undefined) return
    if (mail.type === 'batch') return this.#batch(mail.job, job, mail.batch)
    if (mail.type === 'broken') return this.#over(mail.job, () => job.listener.lost('crashed'))
    if (mail.type === 'read') void this.#read(mail.reading, job.source, mail.what)
  }

  #batch(id: number, { listener }: Job,
    { ackId, outcome, ...batch }: (WorkerMail & { readonly type: 'batch' })['batch']): void {
    const { steps, events, texts, awaited } = batch
    if (steps.length > 0 || events.length > 0 || texts || ackId > 0) {
      listener.steps(batch).then(() => {
        if (this.#isDead) return
        if (ackId > 0) this.#post({ type: 'confirm', job: id, ackId })
        if (awaited) this.#post({ type: 'landed', job: id })
      }, () => this.abort(id))
    }
    if (outcome) this.#over(id, () => listener.ended(outcome))
  }

  #over(id: number, report: () => void): void {
    this.#jobs.delete(id)
    report()
  }

  async #read(reading: number, ...read: Parameters<typeof readFrom>): Promise<void> {
    const result = structuredClone(await resultOf(readFrom(...read)))
    if (!this.#isDead) this.#post({ type: 'stored', reading, result })
  }
}

async function refused(): Promise<never> {
  throw new HeddleError('unsupported', 'This host answers no questions.')
}

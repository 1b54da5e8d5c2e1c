/** The inside of a graph worker: receives jobs, does them, and reports the results. */

import type { Env } from '../../../cluster/index.ts'
import type { CallGate } from '../calls/call-gate.ts'
import { callingThrough } from '../calls/call-scope.ts'
import type { CallingJob, OpenGate } from '../calls/call-scope.ts'
import { composedGate } from '../calls/composed-gate.ts'
import type { Recorder } from '../recording/recorder.ts'
import type { RunEnding } from '../recording/stateless-run.ts'
import type { Replays } from '../replay/replays.ts'
import { DrainControl } from '../engine/drain-control.ts'
import { execute, failure, isWorthKeeping } from '../engine/runner.ts'
import type { Workbench } from '../engine/runner.ts'
import type { EffectRunner } from '../effects/effect-runner.ts'
import { bindEffects, loggedExecution } from '../effects/effect-form.ts'
import type { OpenEffects } from '../effects/effect-form.ts'
import { basesWithoutRules } from '../effects/kept-rules.ts'
import { answer } from '../engine/state-question.ts'
import { cutJob, finishStopped, stopJob } from '../engine/stop-job.ts'
import type { Job } from '../engine/stop-job.ts'
import type { StepTraces } from '../engine/step-traces.ts'
import type { TraceMails } from '../engine/trace-mails.ts'
import { StepOutbox } from '../events/step-outbox.ts'
import { withUntracked } from '../events/untracked-values.ts'
import type { WorkerBatch } from '../events/worker-batch.ts'
import type { CheckpointSource, Execution, ExecutionOutcome, JsonText, PauseReason,
  StoredTuple } from '../execution.ts'
import type { LineCapture } from '../logs/line-capture.ts'
import { settle, ThreadMemories } from '../state/thread-memory.ts'
import type { ThreadMemory } from '../state/thread-memory.ts'
import { EnteredJob } from './entered-job.ts'
import type { Shown } from './entered-job.ts'
import { callingWith, serverIsAt } from './in-graph-client.ts'
import { ItemAsks } from './item-asks.ts'
import { LoopGauge } from './turns/loop-gauge.ts'
import type { MessagePortBatcher } from './message-port-batcher.ts'
import { underTrace } from './run-trace.ts'
import { nobodyWaits, resultOf, unwrap } from './worker-mail.ts'
import type { GraphInquiry, Reading, ToWorker } from './worker-mail.ts'

interface Awaited {
  readonly job: number
  readonly reply: PromiseWithResolvers<StoredTuple[]>
}

/** Ways for messages and lines to leave the worker. */
export interface WaysOut {
  readonly batcher: MessagePortBatcher
  readonly lines: Pick<LineCapture, 'during'>
}

/** Observers of runs. */
export interface JobObservers {
  /** Tracing of the steps of runs, where a project has it. */
  readonly traces?: StepTraces | undefined
  /** Recorder of their calls, whose gate is among the others. */
  readonly recorder?: Recorder | undefined
  /** Replays, in a process that does nothing else. */
  readonly replays?: Replays | undefined
  /** The way out of traces and recordings. */
  readonly mails?: TraceMails | undefined
  /** Opens the effects of each execution; missing for a project without effects. */
  readonly openEffects?: OpenEffects | undefined
  /** Gates of each execution's calls, asked in this order. */
  readonly openGates?: readonly OpenGate[] | undefined
}

const memoryLimits = { threads: 2000, bytes: 128 * 1024 * 1024 }

/** Does the jobs of one worker thread. Lives in that thread. */
export class JobRunner {
  readonly #bench: Workbench
  readonly #batcher: MessagePortBatcher
  readonly #lines: Pick<LineCapture, 'during'>
  readonly #env: Env
  readonly #entered: EnteredJob
  readonly #memories = new ThreadMemories(memoryLimits)
  readonly #jobs = new Map<number, Job>()
  /** Ends of executions whose outcome was sent, but not yet the rest of their recording. */
  readonly #endings = new Set<Promise<void>>()
  /** Questions in progress, by their jobs. */
  readonly #inquiries = new Map<number, AbortController>()
  readonly #readings = new Map<number, Awaited>()
  #lastReading = 0
  readonly #asks: ItemAsks
  readonly #gauge: LoopGauge
  readonly #observers: JobObservers

  constructor(bench: Workbench, { batcher, lines }: WaysOut, env: Env, shown: Shown,
    observers: JobObservers = {}) {
    this.#bench = bench
    this.#batcher = batcher
    this.#lines = lines
    this.#env = env
    this.#entered = new EnteredJob(shown, (ended) => batcher.schedule(ended))
    this.#observers = observers
    this.#asks = new ItemAsks((mail) => batcher.send(mail))
    this.#gauge = new LoopGauge({ nowMs: () => env.monotonicMs(), idleMs: () => env.idleMs(),
      atTurnEnd: (ended) => batcher.schedule(ended) })
  }

  receive(mail: ToWorker): void {
    switch (mail.type) {
      case 'execute':
        return void this.#execute(mail.job, mail.execution, mail.warm)
      case 'abort':
        return this.#abort(mail.job)
      case 'stop':
        return this.#stop(mail.job)
      case 'drain':
        for (const { control } of this.#jobs.values()) control.handBack()
        return
      case 'pause':
        return this.#pause(mail.job, mail.why)
      case 'inquire':
        return void this.#inquire(mail.job, mail.inquiry)
      case 'confirm':
        return this.#jobs.get(mail.job)?.outbox.confirm(mail.ackId)
      case 'landed':
        return this.#jobs.get(mail.job)?.outbox.landed()
      case 'stored':
        return this.#stored(mail)
      case 'remembered':
        return this.#asks.answer(mail.asking, mail.result)
      case 'served':
        return serverIsAt(mail.url)
      case 'traced':
        return this.#observers.mails?.answer(mail.tracing, mail.status)
      case 'flush':
        return void this.#flush()
      case 'ping':
        return this.#batcher.send({ type: 'pong', ...timed(this.#gauge.takeLongest()) })
    }
  }

  #pause(number: number, why: PauseReason | undefined): void {
    const { control } = this.#jobs.get(number) ?? {}
    if (why === 'messages') control?.handBackForMessages()
    else control?.handBack()
  }

  async #execute(number: number, execution: Execution, warm: boolean): Promise<void> {
    const batcher = this.#batcher
    const entered = () => this.#enter(number, execution)
    this.#gauge.watch(number)
    entered()
    const job = this.#newJob(number, execution, entered)
    const { outbox } = job
    this.#jobs.set(number, job)
    if (execution.takesMessages) job.control.handBackForMessages()
    if (execution.stops) stopJob(job, this.#env)
    const source = new RemoteSource((what) => this.#read(number, what))
    const thread = `${execution.tenant}\n${execution.threadId}`
    const { traces, recorder, replays, openEffects } = this.#observers
    let effects: EffectRunner | undefined
    let ending: RunEnding | undefined
    const handedOver = Promise.withResolvers<void>()
    if (!warm) this.#memories.forget(thread)
    const memory = this.#memories.take(thread, execution.headId, execution.lastExecution)
    try {
      const steps = traces?.begin(execution)
      const gate = this.#gateOf({ execution, outbox })
      effects = gate && openEffects?.({ execution, outbox, signal: job.abort.signal })
      if (gate && effects) bindEffects(gate, effects)
      const assignment = { execution: effects ? loggedExecution(execution) : execution, source,
        outbox, memory, control: job.control, signal: job.abort.signal, entered,
        items: replays?.asksItems ?? this.#asks.of(number, entered),
        ...steps && { tracer: steps.tracer }, effects: effects ?? basesWithoutRules(execution) }
      const outcome = await this.#lines.during(number, () =>
        underTrace(execution.trace, () =>
          callingWith(execution.ownKey, () =>
            callingThrough(gate, () => {
              const work = () =>
                execute(this.#bench, assignment)
              return replays ? replays.during(execution, work) : work()
            }))))
      steps?.ended(outcome)
      if (job.abort.signal.aborted)
        return job.isStopping ? await finishStopped(job) : undefined
      if (source.failure)
        return this.#break(number, execution, source.failure)
      this.#endings.add(handedOver.promise)
      await outbox.finish(outcome)
      ending = { outcome, values: () =>
        this.#valuesOf(execution, memory, outcome) }
      // What the code of a stopped replay still does is of no interest.
      if (replays) {
        outbox.close()
        return job.abort.abort()
      }
      // The next execution of the thread waits for the outcome, which waits for nothing more.
      await batcher.posted()
      await this.#remember(execution, outcome, memory)
    } catch (error) {
      // For example, a value cannot be serialized. The run that made it fails.
      outbox.close()
      const outcome = failure(error, this.#bench.library.root)
      ending = { outcome, values: () => undefined }
      const batch = { steps: [], events: [], ackId: 0, outcome }
      batcher.send({ type: 'batch', job: number, batch })
    } finally {
      effects?.retire()
      recorder?.ended(execution, ending)
      handedOver.resolve()
      this.#endings.delete(handedOver.promise)
      this.#jobs.delete(number)
      this.#gauge.forget(number)
    }
  }

  /** JSON of the state values at the end, as the API shows them; undefined if not known. */
  #valuesOf({ graphId }: Execution, memory: ThreadMemory,
    { status, values, untracked }: ExecutionOutcome): JsonText | undefined {
    if (status !== 'success') return values
    const { plain = false, stateChannels = null } = this.#bench.describe(graphId) ?? {}
    const tracked = values
      ?? (plain ? memory.newest.get('')?.channels.text(stateChannels) : undefined)
    return tracked === undefined ? undefined : withUntracked(tracked, untracked)
  }

  #gateOf(job: CallingJob): CallGate | undefined {
    return composedGate((this.#observers.openGates ?? []).flatMap((open) => open(job) ?? []))
  }

  async #flush(): Promise<void> {
    const { traces, recorder } = this.#observers
    await Promise.all(this.#endings)
    await traces?.flush().catch(() => {})
    await recorder?.flush().catch(() => {})
    this.#batcher.send({ type: 'flushed' })
  }

  /** This job's code runs from now on. */
  #enter(job: number, execution?: Execution): void {
    this.#gauge.enter(job)
    this.#entered.enter(job, execution)
  }

  async #remember({ id, tenant, threadId }: Execution, outcome: ExecutionOutcome,
    memory: ThreadMemory): Promise<void> {
    if (!isWorthKeeping(this.#bench, outcome, memory)) return
    const settled = settle(memory, (value) => this.#bench.codec.decode(value))
    // Without the memory, the next execution reads the log.
    const thread = `${tenant}\n${threadId}`
    await settled.then(() => this.#memories.keep(thread, memory, id), () => {})
  }

  #break(job: number, { threadId, runId }: Execution, error: Error): void {
    this.#env.log.error('The checkpoints of an execution could not be read.', { error, threadId,
      runId })
    this.#batcher.send({ type: 'broken', job })
  }

  #newJob(number: number, execution: Execution, entered: () => void): Job {
    const send = (batch: WorkerBatch) =>
      this.#batcher.send({ type: 'batch', job: number, batch, ...timed(this.#gauge.take(number)) })
    const outbox = new StepOutbox({
      send: (batch) => {
        send(batch)
        // An engine without a control has put the input and continues with its nodes.
        const puts = job.isStopping && batch.steps.length > 0 && !outbox.isFinishing
        if (puts) cutJob(job, this.#env)
      },
      schedule: (flush) => this.#batcher.schedule(flush),
    })
    let isSilent = continues(execution)
    const control = new DrainControl(() => {
      entered()
      if (isSilent) send({ steps: [], events: [], ackId: 0, outcome: null })
      isSilent = false
    })
    const job: Job = { execution, outbox, control, abort: new AbortController(), isStopping: false,
      send }
    return job
  }

  #stop(number: number): void {
    const job = this.#jobs.get(number)
    if (job) stopJob(job, this.#env)
  }

  /** Sends nothing more about the job. */
  #abort(number: number): void {
    this.#inquiries.get(number)?.abort(nobodyWaits())
    for (const [reading, { job, reply }] of this.#inquiries.has(number) ? this.#readings : []) {
      if (job !== number) continue
      this.#readings.delete(reading)
      reply.reject(nobodyWaits())
    }
    const job = this.#jobs.get(number)
    if (!job) return
    job.outbox.close()
    job.abort.abort()
  }

  async #inquire(job: number, inquiry: GraphInquiry): Promise<void> {
    this.#enter(job)
    const abort = new AbortController()
    this.#inquiries.set(job, abort)
    const { signal } = abort
    const result = await resultOf(this.#answer(job, inquiry, signal))
    this.#inquiries.delete(job)
    if (!signal.aborted) this.#batcher.send({ type: 'answer', job, result })
  }

  async #answer(job: number, inquiry: GraphInquiry, cancelled: AbortSignal): Promise<unknown> {
    const { library } = this.#bench
    if (inquiry.kind === 'embed') {
      return library.embedding.embed(inquiry.texts, inquiry.textKind)
    }
    const { graphId } = inquiry
    switch (inquiry.kind) {
      case 'state': {
        const source = new RemoteSource((what) => this.#read(job, what))
        return answer(this.#bench, { ...inquiry, source, cancelled })
      }
      case 'schemas':
        return library.schemas(graphId, inquiry.configurable)
      case 'subgraphSchemas':
        return library.subgraphSchemas(graphId, inquiry.namespace, inquiry.recurse,
          inquiry.configurable)
      case 'drawable':
        return library.drawable(graphId, inquiry.xray, inquiry.configurable)
    }
  }

  #read(job: number, what: Reading): Promise<StoredTuple[]> {
    const reading = ++this.#lastReading
    const reply = Promise.withResolvers<StoredTuple[]>()
    this.#readings.set(reading, { job, reply })
    this.#batcher.send({ type: 'read', job, reading, what })
    return reply.promise
  }

  #stored({ reading, result }: ToWorker & { type: 'stored' }): void {
    const reply = this.#readings.get(reading)?.reply
    this.#readings.delete(reading)
    try {
      reply?.resolve(unwrap(result, 'unavailable'))
    } catch (error) {
      reply?.reject(error)
    }
  }
}

/**
 * True for a run without input, which sends nothing before its first node has ended. A worker that
 * has sent nothing about a run gets no other run, so such a run reports its start.
 */
function continues({ request }: Execution): boolean {
  return request.kind === 'run' && request.input === 'null'
}

/** The time as it is sent: left out below one millisecond. */
function timed(heldMs: number): { readonly heldMs?: number } {
  return heldMs > 0 ? { heldMs } : {}
}

/** The thread's checkpoints, which the main thread reads. */
class RemoteSource implements CheckpointSource {
  readonly #read: (what: Reading) => Promise<StoredTuple[]>
  /** Why a reading failed. The graph is not to blame for the outcome then. */
  failure: Error | undefined

  constructor(read: (what: Reading) => Promise<StoredTuple[]>) {
    this.#read = read
  }

  tuple: CheckpointSource['tuple'] = async (ns, checkpointId) =>
    (await this.#noted({ kind: 'tuple', ns, checkpointId }))[0]

  list: CheckpointSource['list'] = (query) => this.#noted({ kind: 'list', query })

  async #noted(what: Reading): Promise<StoredTuple[]> {
    try {
      return await this.#read(what)
    } catch (error) {
      this.failure = error instanceof Error ? error : new Error(String(error))
      throw error
    }
  }
}

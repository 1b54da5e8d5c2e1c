/** Starts a graph process: a graph host whose graphs are in a process of their own. */

import type { ProjectApp } from '../app/project-app.ts'
import { AppLink } from '../app-thread/app-link.ts'
import { defaultAppTimeoutMs } from '../app-thread/supervised-app.ts'
import { isSampled } from '../engine/trace-sample.ts'
import type { CheckpointSource, Configurable, Execution, ExecutionListener, GraphDescription,
  GraphSchemas, PauseReason, SnapshotAnswer, StateQuestion } from '../execution.ts'
import { RunLogs } from '../logs/run-logs.ts'
import type { LinePage, LoggedLines, LoggedRun } from '../logs/run-logs.ts'
import { drained } from '../pool/execution-scheduler.ts'
import type { GraphItems, HostStats } from '../pool/host.ts'
import type { WriteTraces } from '../pool/trace-intake.ts'
import { compilerHeapMb, memoryMb as machineMb } from '../pool/worker-heap.ts'
import type { CompiledProject } from '../project/project-compiler.ts'
import { SchemaTypes } from '../typescript/schema-types.ts'
import { ApartProcesses } from './apart-processes.ts'
import { boundedProject } from './bounded-project.ts'
import { ChildServices } from './child-services.ts'
import { childStarts } from './child-starts.ts'
import type { ChildStarts } from './child-starts.ts'
import type { Loaded } from './graph-child.ts'
import type { GraphProcess, GraphProcessOptions } from './graph-process.ts'
import { HostingChild } from './hosting-child.ts'
import { lossOf } from './loss.ts'
import type { DeathCause } from './loss.ts'

/** Time after which an execution is lost that was given to a process that has died. */
const lossPauseMs = 1_000

/**
 * Resolves when the process has loaded the project. Rejects with `graph_failed` if it cannot serve
 * any of it. A graph that cannot be loaded is among `graphs()`, and says why.
 */
export async function startGraphProcess(options: GraphProcessOptions): Promise<GraphProcess> {
  const project = await boundedProject(options)
  const host = new ProcessGraphHost(options, project)
  try {
    await host.open()
  } catch (error) {
    await host.close()
    throw error
  }
  return host
}

class ProcessGraphHost implements GraphProcess {
  readonly #options: GraphProcessOptions
  readonly #project: CompiledProject
  readonly #starts: ChildStarts
  readonly #services = new ChildServices()
  readonly #logs: Pick<RunLogs, 'add' | 'read'>
  readonly #types: SchemaTypes
  readonly #main: HostingChild
  readonly #apart: ApartProcesses
  readonly #appLink: AppLink
  #loaded: Loaded | undefined
  #url: string | undefined
  #isDraining = false
  /** Why it executes nothing any more; undefined while it lives. */
  #deathReason: string | undefined
  #isClosed = false
  /**
   * Executions that were given after the death and are not lost yet: a function that stops the
   * timer, by id.
   */
  readonly #losses = new Map<number, () => void>()

  constructor(options: GraphProcessOptions, project: CompiledProject) {
    this.#options = options
    this.#project = project
    this.#appLink = new AppLink(options.env, options.appTimeoutMs ?? defaultAppTimeoutMs)
    this.#starts = childStarts(options, project)
    this.#logs = options.runLogs ?? new RunLogs()
    this.#types = new SchemaTypes(options.env, compilerHeapMb(machineMb()), this.#starts.readOnly)
    this.#main = this.#child(false)
    this.#apart = new ApartProcesses(options.env, () => this.#child(true))
  }

  async open(): Promise<void> {
    this.#loaded = await this.#main.process.loaded
    this.#types.begin(this.#project)
  }

  get pid(): number {
    return this.#main.process.pid
  }

  memoryBytes(): number {
    return [this.#main, ...this.#apart.children]
      .reduce((sum, { process }) => sum + process.memoryBytes, 0)
  }

  graphs(): readonly GraphDescription[] {
    return this.#loaded?.graphs ?? []
  }

  describe(graphId: string): GraphDescription | undefined {
    return this.graphs().find((graph) => graph.graphId === graphId)
  }

  execute(execution: Execution, source: CheckpointSource, listener: ExecutionListener): void {
    if (this.#isDraining) return listener.ended(drained)
    this.#services.note(execution.tenant)
    if (execution.apart === true || this.#options.suspects?.has(execution)) {
      return this.#apart.execute(execution, source, listener)
    }
    if (this.#deathReason !== undefined) return this.#loseLater(execution.id, listener)
    this.#main.executions.execute(execution, source, listener)
  }

  pause(executionId: number, why?: PauseReason): void {
    if (!this.#apart.pause(executionId, why)) {
      this.#main.process.send({ type: 'pause', id: executionId, why })
    }
  }

  abort(executionId: number): void {
    this.#stopLoss(executionId)
    if (!this.#apart.abort(executionId)) this.#main.executions.abort(executionId)
  }

  stop(executionId: number): void {
    if (!this.#apart.stop(executionId)) this.#main.executions.stop(executionId)
  }

  logs(run: LoggedRun, page: LinePage): LoggedLines {
    return this.#logs.read(run, page)
  }

  async ask(graphId: string, threadId: string, question: StateQuestion, source: CheckpointSource,
    cancelled?: AbortSignal): Promise<SnapshotAnswer[]> {
    const inquiry = { kind: 'state', graphId, threadId, question } as const
    return await this.#main.questions.ask(inquiry, source, cancelled)
  }

  async schemas(graphId: string, configurable?: Configurable,
    waitMs?: number): Promise<GraphSchemas> {
    const inquiry = { kind: 'schemas', graphId, configurable } as const
    const schemas = await this.#main.questions.ask(inquiry)
    return this.#types.ofGraph(this.#project, { graphId, schemas, waitMs })
  }

  async subgraphSchemas(graphId: string, namespace: string | null, recurse: boolean,
    configurable?: Configurable): Promise<Readonly<Record<string, GraphSchemas>>> {
    const inquiry = { kind: 'subgraphSchemas', graphId, namespace, recurse, configurable } as const
    const found = await this.#main.questions.ask(inquiry)
    return this.#types.ofSubgraphs(this.#project, found)
  }

  drawable(graphId: string, xray: boolean | number, configurable?: Configurable): Promise<unknown> {
    return this.#main.questions.ask({ kind: 'drawable', graphId, xray, configurable })
  }

  app(): ProjectApp | undefined {
    return this.#appLink.app
  }

  async drain(deadline: AbortSignal): Promise<void> {
    this.#isDraining = true
    if (deadline.aborted) return
    const { promise: late, resolve } = Promise.withResolvers<void>()
    deadline.addEventListener('abort', () => resolve(), { once: true })
    const all = Promise.all([this.#apart.drain(), this.#main.drain()])
    await Promise.race([all, late])
  }

  /** Of the last second. */
  stats(): HostStats {
    const { stats } = this.#main.process
    const apart = [...this.#apart.children]
      .reduce((sum, { executions }) => sum + executions.count, 0)
    const waiting = Math.min(stats.waiting, this.#main.executions.count)
    return { ...stats, busy: stats.busy + apart, waiting: waiting + this.#apart.waiting,
      underWay: this.#main.executions.count - waiting + apart }
  }

  servedAt(url: string | undefined): void {
    this.#url = url
    for (const { process } of [this.#main, ...this.#apart.children]) {
      process.send({ type: 'served', url })
    }
  }

  useItems(items: GraphItems): void {
    this.#services.useItems(items)
  }

  useTraces(write: WriteTraces): void {
    this.#services.useTraces(write)
  }

  tracesSteps(runId: string): boolean {
    const { tracedRatio = 0 } = this.#options
    return this.#loaded?.traces === true && isSampled(runId, tracedRatio)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const id of [...this.#losses.keys()]) this.#stopLoss(id)
    this.#types.close()
    this.#appLink.close()
    await Promise.all([this.#main.close(), this.#apart.close()])
  }

  /** Reports the loss after a pause, because the caller may give the execution again at once. */
  #loseLater(id: number, listener: ExecutionListener): void {
    this.#losses.set(id, this.#options.env.after(lossPauseMs, () => {
      this.#losses.delete(id)
      listener.lost('displaced')
    }))
  }

  #stopLoss(id: number): void {
    this.#losses.get(id)?.()
    this.#losses.delete(id)
  }

  #child(isApart: boolean): HostingChild {
    const { env, printed, wrote, suspects } = this.#options
    const start = isApart ? this.#starts.apart : this.#starts.main
    const child: HostingChild = new HostingChild(env, start, this.#services, {
      printed: (line, level) => printed?.(line, level),
      moved: (place) => {
        if (!isApart) this.#appLink.moved(place ?? undefined)
      },
      wrote: (execution, lines) => {
        if (execution.runId === '') return
        this.#logs.add(execution, lines)
        wrote?.(execution, lines)
      },
      over: (execution, outcome) => {
        if (typeof outcome !== 'string') suspects?.clear(execution)
        if (isApart) this.#apart.over()
      },
      died: (gone, cause, reason) => this.#died(gone, isApart, { cause, reason }),
    })
    if (this.#url !== undefined) child.process.send({ type: 'served', url: this.#url })
    // A process that cannot load the project ends here. Its executions wait for another process.
    if (isApart) child.process.loaded.catch(() => child.process.kill())
    return child
  }

  #died(child: HostingChild, isApart: boolean,
    { cause, reason }: { readonly cause: DeathCause; readonly reason: string }): void {
    if (this.#isClosed) return
    const { env, suspects } = this.#options
    const { executions } = child
    env.log.warn('A graph process ended by itself.', { pid: child.process.pid, reason,
      executions: executions.count })
    // It takes back executions that did not start.
    if (isApart) this.#apart.died(child)
    const lost = lossOf({ cause, isApart, executions: executions.count,
      remembers: suspects !== undefined })
    for (const execution of executions.executions) suspects?.note(execution)
    if (isApart) return executions.loseAll(lost)
    this.#deathReason = reason
    this.#appLink.moved(undefined)
    executions.loseAll(lost)
    if (this.#loaded) this.#options.died?.(reason)
  }
}

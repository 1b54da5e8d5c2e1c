/** One thread on real owners, whose runs the engine executes in this process. */

import { AsyncLocalStorageProviderSingleton } from '@langchain/core/singletons'
import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { afterAll, beforeAll } from 'vitest'

import type { RunRow } from '../../proto/gen/storage/v1/row.ts'
import { followTasks } from '../../src/graph/calls/task-scopes.ts'
import type { NodeBase } from '../../src/graph/calls/task-scopes.ts'
import type { Execution, GraphHost, PauseReason } from '../../src/graph/index.ts'
import { listOf, objectIn } from '../../src/json/index.ts'
import type { StartRun } from '../../src/thread/index.ts'
import type { EngineHost } from './engine-host.ts'
import { aRun } from './thread-house.ts'
import { ThreadChain } from './thread-pair.ts'

/** Associates calls with their tasks, for the tests of a file. */
export function useTasks(): void {
  let unfollow: () => void
  beforeAll(() => {
    const { nodes } = new StateGraph(MessagesAnnotation).addNode('any', () => ({}))
      .addEdge(START, 'any').compile()
    unfollow = followTasks(AsyncLocalStorageProviderSingleton,
      Object.getPrototypeOf(nodes.any) as NodeBase)
  })
  afterAll(() => unfollow())
}

/** A host that gives each execution to the host that is current at its start. */
export class PointedHost implements GraphHost {
  current: EngineHost
  readonly #chosen = new Map<number, EngineHost>()

  constructor(current: EngineHost) {
    this.current = current
  }

  graphs: GraphHost['graphs'] = () => this.current.graphs()
  describe: GraphHost['describe'] = (graphId) => this.current.describe(graphId)
  logs: GraphHost['logs'] = () => this.current.logs()
  ask: GraphHost['ask'] = (graphId, threadId, question, source) =>
    this.current.ask(graphId, threadId, question, source)
  schemas: GraphHost['schemas'] = () => this.current.schemas()
  subgraphSchemas: GraphHost['subgraphSchemas'] = () => this.current.subgraphSchemas()
  drawable: GraphHost['drawable'] = () => this.current.drawable()

  execute(execution: Execution,
    ...more: [Parameters<GraphHost['execute']>[1], Parameters<GraphHost['execute']>[2]]): void {
    this.#chosen.set(execution.id, this.current)
    this.current.execute(execution, ...more)
  }

  pause(executionId: number, why?: PauseReason): void {
    this.#chosen.get(executionId)?.pause(executionId, why)
  }

  abort(executionId: number): void {
    this.#chosen.get(executionId)?.abort(executionId)
  }

  stop(executionId: number): void {
    this.#chosen.get(executionId)?.stop(executionId)
  }
}

/** An ended run, and the interrupts of its thread. */
export interface EndedRun {
  readonly status: string
  readonly asks: readonly unknown[]
  readonly error: unknown
}

/** The thread `x` of the tenant `t`, or a copy. `newHost` makes the host of each owner. */
export class EngineThread {
  readonly chain: ThreadChain<GraphHost>
  readonly id: string
  #runs = 0
  #copies = 0

  constructor(newHost: () => GraphHost,
    original?: { readonly chain: ThreadChain<GraphHost>; readonly id: string }) {
    this.chain = original?.chain ?? new ThreadChain(newHost)
    this.id = original?.id ?? 'x'
  }

  /** Copies the thread, on the same owners. */
  async copy(): Promise<EngineThread> {
    const { chain } = this
    const { row: { threadId } } = await chain.client.copy('t', this.id)
    const copy = new EngineThread(() => chain.host, { chain, id: threadId })
    copy.#runs = this.#runs + 10_000 * ++this.#copies
    return copy
  }

  /** Starts a run and returns its id. */
  async start(kwargs: object, more: Partial<StartRun> = {}): Promise<string> {
    const runId = `00000000-0000-7000-9000-${String(++this.#runs).padStart(12, '0')}`
    await this.chain.client.startRun('t', this.id, aRun(runId, { kwargs: { ...kwargs }, ...more }))
    return runId
  }

  /** The row of a run; undefined if the run was rolled back. */
  async row(runId: string): Promise<RunRow | undefined> {
    return await this.chain.client.getRun('t', this.id, runId).catch(() => undefined)
  }

  /** The end of a run: `gone` if the run was rolled back. */
  async ended(runId: string): Promise<EndedRun> {
    for (;;) {
      const row = await this.row(runId)
      if (row === undefined) return { status: 'gone', asks: await this.asks(), error: '' }
      const { status, errorJson } = row
      if (status !== 'pending' && status !== 'running') {
        return { status, asks: await this.asks(), error: errorJson }
      }
      await new Promise(setImmediate)
    }
  }

  async run(kwargs: object): Promise<EndedRun> {
    return await this.ended(await this.start(kwargs))
  }

  answer(resume: unknown): Promise<EndedRun> {
    return this.run({ command: { resume } })
  }

  /** The values of the interrupts with which the thread waits. */
  async asks(): Promise<readonly unknown[]> {
    const { row: { interruptsJson } } = await this.chain.client.get('t', this.id)
    return Object.values(objectIn(interruptsJson || '{}')).flatMap(listOf)
      .map((question) => (question as { value: unknown }).value)
  }

  async values(): Promise<unknown> {
    const { values } = await this.chain.client.get('t', this.id)
    return JSON.parse(String(values)) as unknown
  }
}

/** A project of well-behaved and misbehaving graphs, and a host that serves it in a test. */

import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'

import { afterAll, beforeAll, onTestFinished } from 'vitest'

import type { Execution, ExecutionListener, GraphHost, LossReason, ExecutionOutcome, RunRequest,
  StepBatch, StepEvent } from '../../../../src/graph/execution.ts'
import { compileProject, readProject, startGraphHost } from '../../../../src/graph/index.ts'
import type { CompiledProject, RunningGraphHost } from '../../../../src/graph/index.ts'
import type { GraphHostOptions } from '../../../../src/graph/pool/host.ts'
import { virtualEnv } from '../../../support/env.ts'
import type { VirtualEnv } from '../../../support/env.ts'
import type { Gate } from '../../../support/gate.ts'
import { ModelLog } from '../../../support/model-log.ts'
import { writeProject } from './project-files.ts'
import type { WhenOver } from './project-files.ts'

/** Variables with secrets of the server. */
export const secrets = ['HEDDLE_CLUSTER_SECRET', 'HEDDLE_CASSANDRA_PASSWORD', 'HEDDLE_EGRESS_PROXY',
  'OTEL_EXPORTER_OTLP_HEADERS']

const graphs = `
import { Annotation, END, START, StateGraph, interrupt } from '@langchain/langgraph'
import { threadId } from 'node:worker_threads'

const State = Annotation.Root({
  log: Annotation({ reducer: (a, b) => [...a, ...b], default: () => [] }),
  url: Annotation(),
})
const one = (work) => new StateGraph(State)
  .addNode('node', async (state, config) => ({ log: [await work(state, config)] }))
  .addEdge(START, 'node').addEdge('node', END).compile()

export const where = one(() => threadId)
export const hold = one(async ({ url }) => { await fetch(url); return 'held' })
export const askTwice = one(() => [interrupt('one?'), interrupt('two?')].join())
export const exit = one(() => process.exit(3))
export const reject = one(() => { void Promise.reject(new Error('nobody looks')); return 'fine' })
export const print = one(() => { console.log('printed by a graph'); return 'fine' })
export const env = one(() => ['HOST_TEST_A', 'HOST_TEST_B', ...${JSON.stringify(secrets)}]
  .map((name) => process.env[name]).join())
export const throws = one(() => { throw new RangeError('out') })
/** Calls the server as a client does that was given no URL. */
export const ask = one(async () =>
  (await globalThis[Symbol.for('langgraph_api:fetch')]('http://localhost:8123/a?b')).text())
/** Waits for its request, says so to the test, and blocks the worker for ever. */
export const spin = one(async ({ url }) => {
  await fetch(url)
  new BroadcastChannel(url).postMessage('spins')
  for (;;);
})
`

/** Opens the gate of a graph that then spins. Resolves when its worker does nothing else. */
export async function letSpin(gate: Pick<Gate, 'url' | 'open'>): Promise<void> {
  const channel = new BroadcastChannel(gate.url)
  const spins = once(channel, 'message')
  gate.open()
  await spins
  channel.close()
}

/** The compiled project; `extra` is appended to its source. */
export async function hostProject(extra = '', env: Record<string, string> = {},
  whenOver?: WhenOver): Promise<CompiledProject> {
  return compileProject(await readProject(await hostFolder(extra, env, whenOver)))
}

/** The folder of the project; `extra` is appended to its source. */
export function hostFolder(extra = '', env: Record<string, string> = {},
  whenOver?: WhenOver): Promise<string> {
  const names = [...`${graphs}${extra}`.matchAll(/export const (\w+)/g)].map(([, name]) => name!)
  return writeProject({
    'langgraph.json': {
      graphs: Object.fromEntries(names.map((name) => [name, `./graphs.js:${name}`])),
      env,
    },
    'graphs.js': `${graphs}${extra}`,
    'package.json': { type: 'module' },
  }, whenOver)
}

export interface Seen {
  readonly kind: 'steps' | 'ended' | 'lost'
  readonly batch?: StepBatch
  readonly outcome?: ExecutionOutcome
  readonly reason?: LossReason
}

/** An execution, and what its listener got. */
export interface Given {
  readonly id: number
  readonly threadId: string
  readonly emitted: Seen[]
  readonly log: ModelLog
  /** The outcome, or why it was lost. */
  readonly end: Promise<ExecutionOutcome | LossReason>
  readonly events: StepEvent[]
}

export interface Options extends Partial<Omit<RunRequest, 'input'>> {
  readonly threadId?: string
  readonly runId?: string
  readonly log?: ModelLog
  readonly steps?: (batch: StepBatch) => Promise<void>
  readonly apart?: boolean
  readonly isAwaited?: boolean
}

const request: RunRequest = {
  kind: 'run',
  input: 'null',
  command: null,
  config: '{}',
  context: null,
  streamModes: ['updates'],
  streamSubgraphs: false,
  interruptBefore: null,
  interruptAfter: null,
  durability: 'async',
  checkpoint: null,
  emitted: [],
  asked: null,
}

interface ExecutionRequest extends Pick<Execution, 'id' | 'threadId' | 'graphId' | 'runId'> {
  readonly input: unknown
  readonly headId?: string | null
  readonly apart?: boolean
  readonly isAwaited?: boolean
  readonly more?: Partial<RunRequest>
}

export function executionOf(
  { input, headId = null, apart = false, isAwaited = false, more = {}, ...names }: ExecutionRequest,
): Execution {
  return { ...names, tenant: 'local', attempt: 1, headId, apart, isAwaited,
    request: { ...request, ...more, input: JSON.stringify(input) } }
}

/** A graph host on a clock that the test moves. */
export class TestHost<Host extends GraphHost = RunningGraphHost> {
  readonly env: VirtualEnv
  readonly host: Host
  #executions = 0

  constructor(env: VirtualEnv, host: Host) {
    this.env = env
    this.host = host
  }

  /** A host of one test. */
  static async start(workers: number, project?: CompiledProject,
    options: Pick<GraphHostOptions, 'heapMb'> = {}): Promise<TestHost> {
    const test = await TestHost.open(workers, project ?? await hostProject(), options)
    onTestFinished(() => test.host.close())
    if (workers > 1) await test.#awaitSecond()
    return test
  }

  /** A host that its caller closes. */
  static async open(workers: number, project: CompiledProject,
    options: Pick<GraphHostOptions, 'heapMb'> = {}): Promise<TestHost> {
    const env = virtualEnv()
    return new TestHost(env, await startGraphHost({ ...options, env, workers, project }))
  }

  /** Waits for the second worker: it is there once two runs at a time land on different workers. */
  async #awaitSecond(): Promise<void> {
    const [first, second] = [this.run('where', {}), this.run('where', {})]
    await Promise.all([first.end, second.end])
    if (logged(first) === logged(second)) await this.#awaitSecond()
  }

  run(graphId: string, input: unknown, wanted: Options = {}): Given {
    const id = ++this.#executions
    const { threadId = `thread-${id}`, runId = `run-${id}`, log = new ModelLog(), steps,
      apart = false, isAwaited = false, ...rest } = wanted
    const emitted: Seen[] = []
    const end = Promise.withResolvers<ExecutionOutcome | LossReason>()
    const listener: ExecutionListener = {
      steps: async (batch) => {
        emitted.push({ kind: 'steps', batch })
        await steps?.(batch)
        log.append(batch.steps)
      },
      ended: (outcome) => {
        emitted.push({ kind: 'ended', outcome })
        end.resolve(outcome)
      },
      lost: (reason) => {
        emitted.push({ kind: 'lost', reason })
        end.resolve(reason)
      },
    }
    const execution = executionOf({ id, threadId, graphId, runId, input, headId: log.headId, apart,
      isAwaited, more: rest })
    this.host.execute(execution, log, listener)
    return { id, threadId, emitted, log, end: end.promise, get events() {
      return emitted.flatMap(({ batch }) => batch?.events ?? [])
    } }
  }

  /** Moves the clock without giving workers a chance to answer their pings. */
  stall(ms: number): void {
    for (let passed = 0; passed < ms; passed += 500) this.env.advance(500)
  }

  /**
   * Resolves when all that the worker has sent is here: a request of its code may be faster. After
   * that no code of a run counts as the last that it entered.
   */
  async received(): Promise<void> {
    await this.host.drawable('where', false)
  }

  /**
   * Moves the clock until it resolves. On a busy machine a worker gets what makes it spin late, and
   * answers a ping before: it is silent from then on.
   */
  async until<Result>(end: Promise<Result>): Promise<Result> {
    let isOver = false
    const over = () => {
      isOver = true
    }
    end.then(over, over)
    for (;;) {
      await setTimeout(100)
      if (isOver) return await end
      this.env.advance(500)
    }
  }

  /** Moves the clock while workers that are not stuck answer their pings. */
  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 500) {
      this.env.advance(500)
      // The worker that is asked gets its ping before this question, and answers it before.
      await this.received()
      // Other workers answer theirs in real time. After nine silent rounds a worker counts as
      // stuck, so some rounds are long enough for a busy machine.
      await setTimeout(passed % 2_000 === 1_500 ? 250 : 10)
    }
  }
}

/**
 * A host with one worker for all tests of a file that leave the worker alive, and the project as it
 * is. `extra` and `env` are of that project.
 */
export function useSharedHost(extra = '', env: Record<string, string> = {}): () => TestHost {
  let shared: TestHost
  const removals: (() => Promise<void>)[] = []
  beforeAll(async () => {
    const project = await hostProject(extra, env, (remove) => removals.push(remove))
    shared = await TestHost.open(1, project)
  })
  afterAll(async () => {
    await shared.host.close()
    for (const remove of removals) await remove()
  })
  return () => shared
}

/** What the run's node returned. */
export function logged({ log }: Given): unknown {
  return (log.values().log as unknown[]).at(-1)
}

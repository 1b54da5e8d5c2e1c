/** Executes graphs in this process, as a worker would, on the simple model of a log. */

import { randomUUID } from 'node:crypto'

import * as langgraph from '@langchain/langgraph'
import * as messages from '@langchain/core/messages'

import { systemEnv } from '../../cluster/index.ts'
import { composedGate } from '../../src/graph/calls/composed-gate.ts'
import { callingThrough } from '../../src/graph/calls/call-scope.ts'
import { bindEffects, loggedExecution, offerEffects } from '../../src/graph/effects/effect-form.ts'
import type { OpenEffects } from '../../src/graph/effects/effect-form.ts'
import { basesWithoutRules } from '../../src/graph/effects/kept-rules.ts'
import type { EffectRule } from '../../src/graph/effect-rule.ts'
import { DrainControl } from '../../src/graph/engine/drain-control.ts'
import type { Shortcuts } from '../../src/graph/engine/shortcuts.ts'
import { execute, failure, isWorthKeeping } from '../../src/graph/engine/runner.ts'
import type { Workbench } from '../../src/graph/engine/runner.ts'
import { answer } from '../../src/graph/engine/state-question.ts'
import { StepOutbox } from '../../src/graph/events/step-outbox.ts'
import type { WorkerBatch } from '../../src/graph/events/worker-batch.ts'
import type { EditUpdate, Execution, ExecutionOutcome, RunRequest, SnapshotAnswer, StateQuestion,
  StepEvent } from '../../src/graph/execution.ts'
import { toGraph } from '../../src/graph/project/graph-export.ts'
import type { ServedGraph } from '../../src/graph/project/graph-export.ts'
import { shapeOf } from '../../src/graph/project/library.ts'
import type { GraphLibrary } from '../../src/graph/project/library.ts'
import { settle, ThreadMemories } from '../../src/graph/state/thread-memory.ts'
import { ValueCodec } from '../../src/graph/state/value-codec.ts'
import { ModelLog } from './model-log.ts'

/** The library's own serializer. */
export const serde = new langgraph.MemorySaver().serde
/** Encodes values as a worker does. */
export const codec = new ValueCodec(messages, serde)

const request: RunRequest = {
  kind: 'run',
  input: 'null',
  command: null,
  config: '{}',
  context: null,
  streamModes: ['values'],
  streamSubgraphs: false,
  interruptBefore: null,
  interruptAfter: null,
  durability: 'async',
  checkpoint: null,
  emitted: [],
  asked: null,
}

/** What an execution sent. */
export interface Ran {
  readonly outcome: ExecutionOutcome
  readonly events: StepEvent[]
  readonly batches: WorkerBatch[]
}

/** What a run deviates in from a plain one. */
export interface RunOptions extends Partial<Omit<RunRequest, 'input' | 'command' | 'config'>> {
  readonly input?: unknown
  readonly command?: unknown
  readonly config?: Record<string, unknown>
  readonly runId?: string
  readonly attempt?: number
  readonly signal?: AbortSignal
  readonly control?: DrainControl
  /** Forgets the head afterwards, as after a restart. */
  readonly forget?: boolean
  /** The log gets nothing before the run ends, as with an edit. */
  readonly unseen?: boolean
  readonly onBatch?: (batch: WorkerBatch) => void
}

/** An update of the state, as a value. */
export interface UpdateRequest extends Partial<Omit<EditUpdate, 'values'>> {
  readonly values: unknown
}

/** A graph with one thread: its log, its remembered state, and runs on it. */
export class GraphBench {
  /** As in a worker; undefined for none. */
  shortcuts: Shortcuts | undefined
  /** The rules of its effects; undefined for a project without effects. */
  effects: readonly EffectRule[] | undefined
  readonly log = new ModelLog()
  readonly memories = new ThreadMemories({ threads: 8, bytes: 1 << 20 })
  readonly #graph: ServedGraph
  readonly threadId = '11111111-1111-4111-8111-111111111111'
  /** Details of the warnings so far. */
  readonly warnings: Readonly<Record<string, string>>[] = []
  #executions = 0

  constructor(graph: unknown) {
    this.#graph = toGraph(graph)
  }

  run(options: RunOptions = {}): Promise<Ran> {
    const { input, command, config, runId, attempt, signal, control, forget, onBatch, ...rest } =
      options
    return this.#execute({
      ...request,
      ...rest,
      input: JSON.stringify(input ?? null),
      command: command === undefined ? null : JSON.stringify(command),
      config: JSON.stringify(config ?? {}),
    }, options)
  }

  edit(supersteps: readonly (readonly UpdateRequest[])[], options: RunOptions = {}): Promise<Ran> {
    return this.#execute({
      kind: 'edit',
      config: JSON.stringify(options.config ?? {}),
      checkpoint: options.checkpoint ?? null,
      supersteps: supersteps.map((updates) =>
        updates.map(({ values, command, asNode }) => ({ values: JSON.stringify(values),
          command: command ?? null, asNode: asNode ?? null })
        )
      ),
    }, options)
  }

  /** Adds messages to the state between two supersteps. */
  add(...messages: readonly object[]): Promise<Ran> {
    return this.#execute({ kind: 'edit', config: '{}', checkpoint: null, supersteps: [],
      messages: JSON.stringify(messages) }, {})
  }

  ask(
    question: Partial<StateQuestion> & { kind: StateQuestion['kind'] },
  ): Promise<SnapshotAnswer[]> {
    const defaults = { configurable: {}, ns: '', checkpointId: null, subgraphs: false, before: null,
      limit: 10, filter: null }
    return answer(this.bench, { graphId: 'graph', threadId: this.threadId, source: this.log,
      question: { ...defaults, ...question } as StateQuestion })
  }

  get bench(): Workbench {
    const graph = this.#graph
    const library = { langgraph, messages, get: async () => graph } as unknown as GraphLibrary
    const description = { graphId: 'graph', description: null, ...shapeOf(graph) }
    const { shortcuts } = this
    return { library, codec, serde, shortcuts, uuid: randomUUID, nowMs: Date.now,
      describe: () => description, warn: (_, details) => void this.warnings.push(details) }
  }

  #effectsOf(job: Parameters<OpenEffects>[0]) {
    const offered = offerEffects(this.effects ?? [], systemEnv({ name: 'test' }))
    const form = offered?.over(langgraph)
    const open = form ? [...offered!.gates, form.gate] : []
    const gate = composedGate(open.flatMap((each) => each(job) ?? []))
    const effects = form?.open(job)
    if (gate && effects) bindEffects(gate, effects)
    return { gate, effects }
  }

  async #execute(wanted: Execution['request'], options: RunOptions): Promise<Ran> {
    const batches: WorkerBatch[] = []
    const outbox: StepOutbox = new StepOutbox({
      schedule: (flush) => void setImmediate(flush),
      send: (batch) => {
        batches.push(batch)
        options.onBatch?.(batch)
        if (!options.unseen) this.log.append(batch.steps)
        if (batch.ackId > 0) setImmediate(() => outbox.confirm(batch.ackId))
      },
    })
    this.#executions++
    const execution: Execution = {
      id: ++this.log.executions,
      tenant: 'local',
      threadId: this.threadId,
      graphId: 'graph',
      headId: this.log.headId,
      lastExecution: this.log.lastExecution,
      attempt: options.attempt ?? 1,
      request: wanted,
      runId: wanted.kind === 'run' ? options.runId ?? runIdOf(this.#executions) : '',
    }
    this.log.lastExecution = null
    const memory = this.memories.take(this.threadId, execution.headId, execution.lastExecution)
    const signal = options.signal ?? new AbortController().signal
    const { gate, effects } = this.#effectsOf({ execution, outbox, signal })
    const ended = await callingThrough(gate, () =>
      execute(this.bench, {
        execution: effects ? loggedExecution(execution) : execution,
        source: this.log,
        items: async () => [],
        outbox,
        memory,
        entered: () => {},
        signal,
        control: options.control ?? new DrainControl(() => {}),
        effects: effects ?? basesWithoutRules(execution),
      }))
    const outcome = await outbox.finish(ended).then(() => ended,
      (error: unknown) => failure(error, '/'))
    if (options.unseen) this.log.append(batches.flatMap(({ steps }) => steps))
    if (!options.forget && isWorthKeeping(this.bench, outcome, memory)) {
      await settle(memory, (value) => codec.decode(value))
      this.memories.keep(this.threadId, memory, execution.id)
    }
    this.log.lastExecution = execution.id
    return { outcome, batches, events: batches.flatMap(({ events }) => events) }
  }
}

/** The id of the run with this number. */
export function runIdOf(number: number): string {
  return `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
}

/** Executes one job: a run through the graph, or an edit of its state. */

import type { CheckpointPendingWrite, SerializerProtocol } from '@langchain/langgraph-checkpoint'

import { HeddleError } from '../../errors.ts'
import { memberOf } from '../../json/index.ts'
import { engineModes, EventMapper, seesSubgraphs } from '../events/event-mapping.ts'
import type { EventMapperOptions } from '../events/event-mapping.ts'
import { ProtocolEvents, protocolModes } from '../events/protocol-events.ts'
import type { StepOutbox } from '../events/step-outbox.ts'
import { transformersOf } from '../events/stream-transformers.ts'
import { UntrackedValues } from '../events/untracked-values.ts'
import { referenceFor } from '../events/values-reference.ts'
import type { ValuesReference } from '../events/values-reference.ts'
import type { CheckpointSource, EditRequest, Execution, GraphDescription, ExecutionOutcome,
  RunRequest } from '../execution.ts'
import { placeIn } from '../project/code-place.ts'
import type { ServedGraph } from '../project/graph-export.ts'
import { commandFaults, graphAt, requireNoFault, namesOf,
  updateFaults } from '../project/graph-names.ts'
import type { GraphLibrary } from '../project/library.ts'
import { commandIn, configOf, editInput, namedWrites, outdatesAnswer, parsedUpdate,
  runInput } from '../project/run-input.ts'
import type { Fields, ParsedUpdate } from '../project/run-input.ts'
import { messageOf, nameOf } from '../project/thrown.ts'
import { withoutAnswer } from '../state/pending-writes.ts'
import { HeddleSaver, sendsApart } from '../state/saver.ts'
import type { SaverOptions } from '../state/saver.ts'
import type { StepSink } from '../state/step-sink.ts'
import { doneTasks, withoutResults } from '../state/state-reader.ts'
import { isTouched } from '../state/thread-memory.ts'
import type { ThreadMemory } from '../state/thread-memory.ts'
import type { ValueCodec } from '../state/value-codec.ts'
import { addMessages } from './added-messages.ts'
import { bindSaver } from './bound-graph.ts'
import type { DrainControl } from './drain-control.ts'
import { filterable } from './filterable.ts'
import { addsResults, readState } from './graph-state.ts'
import { MessageIds } from './message-ids.ts'
import { pendingInterrupts } from './pending-interrupts.ts'
import type { AskItems, GraphStores } from './graph-store.ts'
import { questionsLeft } from './questions-left.ts'
import { restPoints } from './rest-points.ts'
import { consume, consumeEvents } from './run-stream.ts'
import type { Shortcuts } from './shortcuts.ts'
import { toolsAt } from './tools-at.ts'
import { TaskFailures } from './task-failures.ts'
import { requireNodes, waitingPaths } from './waiting-nodes.ts'

/**
 * Parts that all executions of a worker share: the project's library, codecs, clock and shortcuts.
 */
export interface Workbench {
  readonly library: GraphLibrary
  readonly codec: ValueCodec
  readonly serde: SerializerProtocol
  /** Makes a random UUID, version 4. */
  uuid(): string
  /** The time, for what the graph's own code is given. */
  readonly nowMs: () => number
  /** Undefined if the library has to run unchanged. */
  readonly shortcuts?: Shortcuts
  /** Undefined if the library is too old to have a store. */
  readonly stores?: GraphStores | undefined
  /** The description that the rest of the process has of the graph. */
  describe(graphId: string): GraphDescription | undefined
  /** Writes a warning to the log of the server. */
  warn(message: string, details: Readonly<Record<string, string>>): void
}

/** Parts of one execution: its thread's checkpoints and memory, the way out, and its signals. */
export interface Assignment {
  readonly execution: Execution
  readonly source: CheckpointSource
  readonly outbox: StepOutbox
  readonly memory: ThreadMemory
  readonly control: DrainControl
  readonly signal: AbortSignal
  /** Asks for items of the execution's tenant. */
  readonly items: AskItems
  /** Call whenever code of the execution runs. */
  readonly entered: () => void
  /** Traces the steps of a run; missing if they are not traced. */
  readonly tracer?: object
  /** Does the effects of its tasks; missing for a project without effects. */
  readonly effects?: SaverOptions['effects']
}

/** Runs or edits. An error of user code is an outcome and does not reject. */
export async function execute(bench: Workbench, assignment: Assignment): Promise<ExecutionOutcome> {
  const { request } = assignment.execution
  try {
    return request.kind === 'run'
      ? await run(bench, assignment, request)
      : await edit(bench, assignment, request)
  } catch (error) {
    return failure(error, bench.library.root)
  }
}

/**
 * True if the next execution may use the memory. After a failure, or if values were changed in
 * place, the next one reads the log instead.
 */
export function isWorthKeeping({ codec }: Workbench, { status, waiting }: ExecutionOutcome,
  memory: ThreadMemory): boolean {
  const later = (done: Promise<void>) => void done.catch(() => {})
  try {
    return status === 'success'
      && !isTouched(memory, waiting, (value) => codec.encode(value, later))
  } catch {
    // A value that cannot be encoded any more was changed.
    return false
  }
}

async function run(bench: Workbench, assignment: Assignment,
  request: RunRequest): Promise<ExecutionOutcome> {
  if (!request.threadEvents) return runGraph(bench, assignment, request, undefined)
  const protocol = new ProtocolEvents({
    text: (value) => bench.codec.text(value),
    isExit: request.durability === 'exit',
    notify: (event) => assignment.outbox.event(event),
    nowMs: bench.nowMs,
    toolsAt: toolsAt(bench.library.langgraph),
  })
  const outcome = await runGraph(bench, assignment, request, protocol)
  await protocol.end(outcome)
  return outcome
}

async function runGraph(bench: Workbench, assignment: Assignment, request: RunRequest,
  protocol: ProtocolEvents | undefined): Promise<ExecutionOutcome> {
  const { execution: { threadId, runId, graphId }, control, signal, tracer } = assignment
  const config = configOf(threadId, request)
  const { metadata, configurable, context } = config
  const graph = await bench.library.get(graphId, { access: 'threads.create_run',
    config: { configurable }, context })
  const reference = referenceFor(graph, bench.describe(graphId))
  const pending = outdatesAnswer(request) ? withoutAnswer : undefined
  const failures = new TaskFailures(bench.library.root, request.durability === 'exit')
  const saver = saverFor(bench, assignment, graph, {
    metadata: { ...filterable(configurable), ...metadata },
    sync: request.durability === 'sync',
    reference,
    pending,
    isExit: request.durability === 'exit',
    failed: failures.take,
    sink: protocol?.sinkOver(assignment.outbox),
    stepped: restPoints(graph, request, control),
  })
  protocol?.referTo(reference)
  protocol?.transformWith(transformersOf(graph))
  const bound = bindSaver(graph, saver, bench.stores?.open(assignment.items))
  const { streamModes } = request
  const replay = { reference, redoes: configurable.checkpoint_id !== undefined }
  const mapper = mapperFor(bench, assignment, request, { ...replay, errorOf: failures.of })
  const untracked = untrackedOf(bench, assignment, graph)
  const asked = async () => pendingInterrupts(saver, configurable)
  const input = await runInput(request, bench.library.langgraph, asked)
  const options = {
    ...config,
    runId,
    signal,
    control,
    durability: request.durability,
    subgraphs: seesSubgraphs(request) || protocol !== undefined,
    streamMode: engineModes([...streamModes, ...protocol ? protocolModes : [], ...untracked.modes]),
    ...tracer && { callbacks: [tracer] },
    ...breakpointsIn(request),
  }
  const withEvents = streamModes.includes('events')
  try {
    requireRunKnown(graph, request)
    await requireThere(saver, configurable)
    if (continues(request)) {
      await requireNodes({ graph, saver, threadId }, configurable, request.command !== null)
    }
    const sink = untracked.sinkOver(protocol?.chunksFor(mapper) ?? mapper)
    if (withEvents) await consumeEvents(bound, input, options, sink, assignment)
    else await consume(await open(bench, bound, input, options), options, sink, assignment)
    mapper.end(mapper.stopped ? 'interrupted' : 'completed')
  } catch (error) {
    if (signal.aborted) return { ...ended, status: 'aborted' }
    const drained = memberOf(error, 'name') === 'GraphDrained' && control.drainRequested
    if (drained && control.handsBack) return { ...ended, status: 'drained' }
    const left = await (isMissingNode(error)
      ? questionsLeft(bench.codec, saver, threadId)
      : whatIsLeft(bench, graph, saver, threadId)).catch(() => undefined)
    // A drain that a node asked for stops the graph as a breakpoint does.
    const outcome = drained ? ended : failure(error, bench.library.root)
    mapper.end(outcome.error ?? 'interrupted')
    return { ...outcome, ...left }
  } finally {
    saver.retire()
  }
  const done = { ...ended, ...untracked.ending() }
  if (!mapper.stopped && hasMoved(assignment)) return done
  return { ...done, ...await whatIsLeft(bench, graph, saver, threadId) }
}

function untrackedOf({ codec, warn }: Workbench, { execution }: Assignment,
  graph: ServedGraph): UntrackedValues {
  const { threadId, runId } = execution
  return new UntrackedValues(graph, {
    text: (value) => codec.text(value),
    leftOut: (channel) =>
      warn('The result of a run lacks the value of an untracked channel: it exceeds 1 MiB, or it ' +
        'has no JSON form.', { threadId, runId, channel }),
  })
}

/** False for a run that put no checkpoint: it leaves the thread waiting as it was. */
function hasMoved({ execution: { headId }, memory }: Assignment): boolean {
  return (memory.newest.get('')?.id ?? headId) !== headId
}

async function edit(bench: Workbench, assignment: Assignment,
  request: EditRequest): Promise<ExecutionOutcome> {
  const { execution: { threadId, graphId }, signal } = assignment
  const { metadata, configurable } = configOf(threadId, { ...request, context: null })
  const graph = await bench.library.get(graphId, { access: 'threads.update',
    config: { configurable } })
  const described: Fields = { ...metadata }
  let pending: RunSaverOptions['pending']
  const options = { metadata: described, sync: false, reference: undefined,
    pending: (writes: CheckpointPendingWrite[]) => pending?.(writes) ?? writes }
  const saver = saverFor(bench, assignment, graph, options)
  const bound = bindSaver(graph, saver, bench.stores?.open(assignment.items))
  if (request.messages !== undefined) {
    await addMessages(graph, saver, { threadId, uuid: bench.uuid, nowMs: bench.nowMs(),
      messages: JSON.parse(request.messages) as readonly unknown[] })
    return { ...ended, ...await whatIsLeft(bench, graph, saver, threadId) }
  }
  const { langgraph } = bench.library
  const supersteps = request.supersteps.map((updates) => updates.map(parsedUpdate))
  await requireNameKnown(graph, configurable.checkpoint_ns, supersteps.flat())
  let config: Parameters<ServedGraph['bulkUpdateState']>[0] = { configurable }
  // If a step failed as a whole, the update replaces what its tasks wrote.
  const isNewest = configurable.checkpoint_id === undefined
  if (isNewest && !await addsResults(graph, saver, config)) pending = withoutResults
  for (const updates of supersteps) {
    described.writes = namedWrites(updates)
    config = await bound.bulkUpdateState(config, [{ updates: updates.map((update) => ({
      values: editInput(update, langgraph) as Fields,
      asNode: update.asNode ?? undefined,
    })) }])
    if (signal.aborted) return { ...ended, status: 'aborted' }
  }
  return { ...ended, ...await whatIsLeft(bench, graph, saver, threadId) }
}

/** Options of the engine for breakpoints. Without a key, it uses the breakpoints of the graph. */
function breakpointsIn({ interruptBefore, interruptAfter }: RunRequest): Fields {
  return {
    ...interruptBefore !== null && { interruptBefore },
    ...interruptAfter !== null && { interruptAfter },
  }
}

/** Throws `invalid` if an update names a node or a channel that does not exist. */
async function requireNameKnown(graph: ServedGraph, ns: unknown,
  updates: readonly ParsedUpdate[]): Promise<void> {
  const edited = await graphAt(graph, ns)
  if (!edited) return
  const names = namesOf(edited)
  requireNoFault(updates.flatMap((update) => updateFaults(update, names)))
}

/** Throws `invalid` for a run. The graphs of a factory may differ, and did not exist before. */
function requireRunKnown(graph: ServedGraph, { command }: RunRequest): void {
  if (command === null) return
  requireNoFault(commandFaults(commandIn(command), namesOf(graph)))
}

/**
 * Throws if the checkpoint is missing. The engine would take that for an empty thread, and replace
 * the state.
 */
async function requireThere(saver: HeddleSaver, configurable: Fields): Promise<void> {
  const { checkpoint_id: id } = configurable
  if (id === undefined || await saver.getTuple({ configurable })) return
  throw new HeddleError('not_found', `Checkpoint ${String(id)} is not there any more.`)
}

/** True without new input and without a jump, so that the waiting tasks are executed. */
function continues({ input, command }: RunRequest): boolean {
  return command === null ? input === 'null' : commandIn(command).resume != null
}

function isMissingNode(error: unknown): boolean {
  return error instanceof HeddleError && error.code === 'missing_node'
}

const ended: ExecutionOutcome = { status: 'success', waiting: false, interrupts: '{}', error: null }

/** The outcome of a run that threw. `root` is the folder of the project. */
export function failure(error: unknown, root: string): ExecutionOutcome {
  // A HeddleError wraps what the project's code threw when the graph was built.
  const thrown = error instanceof HeddleError ? error.cause : error
  const name = thrown instanceof Error ? nameOf(thrown) : 'Error'
  const at = placeIn(root, thrown)
  return { ...ended, status: 'error', ...at !== undefined && { at },
    error: { error: name, message: messageOf(error) } }
}

interface RunSaverOptions {
  readonly metadata: Fields
  readonly sync: boolean
  readonly isExit?: boolean
  readonly reference: ValuesReference | undefined
  readonly pending: SaverOptions['pending']
  readonly failed?: SaverOptions['failed']
  readonly sink?: StepSink | undefined
  /** Called with the state after each superstep of the graph itself that was executed here. */
  readonly stepped?: ((values: Readonly<Record<string, unknown>>) => void) | undefined
}

function saverFor({ codec, serde, uuid, shortcuts }: Workbench, assignment: Assignment,
  graph: ServedGraph, wanted: RunSaverOptions): HeddleSaver {
  const { metadata, sync, isExit, reference, pending, failed, sink = assignment.outbox, stepped } =
    wanted
  const { execution: { threadId, runId }, source, memory, entered, effects } = assignment
  const ids = new MessageIds(graph, uuid)
  return new HeddleSaver({
    threadId,
    runId,
    codec,
    serde,
    source,
    sink,
    memory,
    metadata,
    sync,
    pending,
    failed,
    effects,
    entered,
    sendsApart: sendsApart(graph),
    updates: shortcuts?.updates,
    written: (channel, value) => ids.assign(channel, value),
    // Nodes may change it in place long before a checkpoint holds that.
    seen: (id, values, isLoaded) => {
      if (!(isLoaded && isExit)) reference?.see(id, values)
      // The input is a checkpoint too, whose writes come with the first superstep.
      if (!isLoaded && !isExit && !('__start__' in values)) stepped?.(values)
    },
  })
}

function mapperFor({ codec }: Workbench, { outbox }: Assignment, request: RunRequest,
  replay: Pick<EventMapperOptions, 'reference' | 'redoes' | 'errorOf'>): EventMapper {
  return new EventMapper({
    ...replay,
    modes: request.streamModes,
    subgraphs: request.streamSubgraphs,
    emitted: request.emitted,
    durable: request.durability !== 'exit',
    text: (value) => codec.text(value),
    notify: (event) => outbox.event(event),
  })
}

async function open({ shortcuts }: Workbench, graph: ServedGraph, input: unknown,
  options: Fields): Promise<AsyncIterable<unknown>> {
  return shortcuts?.bareStream?.open(graph, input, options)
    ?? await graph.stream(input, options)
}

/**
 * The nodes and interrupts that the thread waits at now. Interrupts of completed tasks do not
 * count.
 */
async function whatIsLeft({ codec }: Workbench, graph: ServedGraph, saver: HeddleSaver,
  threadId: string): Promise<Partial<ExecutionOutcome>> {
  const config = { configurable: { thread_id: threadId } }
  const done = doneTasks(await saver.getTuple(config))
  return readState(graph, saver, { config }, async ({ next, tasks, values }) => {
    const open = tasks.filter(({ id }) => !done.has(id))
    const interrupts = Object.fromEntries(open.map((task) => [task.id, task.interrupts]))
    // `values` include what the command wrote that the run began with.
    const partial = open.length > 0 && done.size > 0
    return { waiting: next.length > 0, interrupts: codec.text(interrupts),
      ...next.length > 0 && { waitsAt: await waitingPaths({ graph, saver, threadId }, next, open) },
      ...partial && { values: codec.text(values) }, ...saver.askers.of(Object.values(interrupts)),
      ...saver.isMidStep && { isMidStep: true } }
  })
}

/** The entry of a graph worker thread: loads the project, then does what the mail says. */

import { flushCompileCache, syncBuiltinESMExports } from 'node:module'
import threads from 'node:worker_threads'

import { atLatest, systemEnv } from '../../../cluster/index.ts'
import { assert, HeddleError } from '../../errors.ts'
import { followCalls, openCalls } from '../calls/open-calls.ts'
import type { OpenCalls } from '../calls/open-calls.ts'
import { isTraceAddress } from '../calls/trace-address.ts'
import type { Mask } from '../recording/project-mask.ts'
import { openRecorder } from '../recording/open-recorder.ts'
import { offerEffects } from '../effects/effect-form.ts'
import { requireKept } from '../effects/kept-rules.ts'
import { GraphStores } from '../engine/graph-store.ts'
import type { Workbench } from '../engine/runner.ts'
import { nearestKnown } from '../engine/known-sources.ts'
import { shortcutsOn, takeShortcuts } from '../engine/shortcuts.ts'
import type { StepTraces } from '../engine/step-traces.ts'
import { TraceMails } from '../engine/trace-mails.ts'
import { isMachineFault } from '../machine-fault.ts'
import { engineVersion, GraphLibrary } from '../project/library.ts'
import { LineCapture } from '../logs/line-capture.ts'
import { nodeOf } from '../logs/node-now.ts'
import { secretHider } from '../logs/secret-values.ts'
import { keepThrown } from '../project/thrown.ts'
import { ValueCodec } from '../state/value-codec.ts'
import { clientMayAsk, isOwn, offerClient } from './in-graph-client.ts'
import { JobRunner } from './job-runner.ts'
import { MessagePortBatcher } from './message-port-batcher.ts'
import { isTracingOn, warmUp } from './warm-up.ts'
import type { FromWorker, ToWorker, WorkerData } from './worker-mail.ts'

/** Time that a start waits for a factory, which may itself wait for something unreachable. */
const factoryMs = 10_000

assert(threads.workerData, 'this file is started as a worker thread')
const { name, project, entered, port, mark, tracedRatio, isInProcess = false } = threads
  .workerData as WorkerData
const env = systemEnv({ name })

// User code must not find the port: what is posted there speaks for every job of this worker.
Object.assign(threads, { workerData: null })
syncBuiltinESMExports()
hideHandle(port)
const post = port.postMessage.bind(port)
/** Replaced when the project is loaded: no mail comes before `ready`. */
let receive = (_mail: ToWorker): void => {}
port.on('message', (mails: readonly ToWorker[]) => {
  for (const mail of mails) receive(mail)
})
// A file that waits for something that never comes must not keep the worker from ending.
port.unref()

// A rejection that user code does not handle must not end the worker.
process.on('unhandledRejection', (error) => {
  env.log.error('A promise was rejected in a graph and not handled.', { error })
})

const say = (mails: FromWorker, moved: ArrayBuffer[] = []) => post(mails, moved)
const batcher = new MessagePortBatcher(say)
let nodeNow = (): string | undefined => undefined
let hideSecrets: ((text: string) => string) | undefined
const lines = new LineCapture({
  send: (job, written) => batcher.send({ type: 'wrote', job, ...written }),
  schedule: (flush) => batcher.schedule(flush),
  nowMs: () => env.nowMs(),
  node: () => nodeNow(),
  // The project's variables are known when its code runs.
  hide: (text) => (hideSecrets ??= secretHider(process.env))(text),
  printsJobs: !isInProcess,
})
lines.watch(globalThis.console)
offerClient(lines.over(env.log))
const loads = (graphId: string | null) => say([{ type: 'loading', graphId }])
/** Ends the worker. Every worker would end like this, so one message says why, without a stack. */
const refuse = (error: unknown): never => {
  if (!(error instanceof HeddleError)) throw error
  say([{ type: 'refused', reason: error.message, isTransient: isMachineFault(error) }])
  process.exit(1)
}
const form = offerEffects(project.effects ?? [], env, project.secretNames)
const mails = new TraceMails((tracing, body) =>
  batcher.send({ type: 'trace', tracing, ...body }, body.body.buffer)
)
let mask: Mask | undefined
const { secretNames } = project
const recorder = await openRecorder(project.recording, env, mails.send, { mask: () => mask,
  secretNames })
const replays = project.replays
  ? new (await import('../replay/replays.ts')).Replays(() => mask)
  : undefined
const gates = replays
  ? [replays.openGate]
  : [...recorder ? [recorder.openGate] : [], ...form?.gates ?? []]
const doors = await openCalls(env, gates,
  (url) => replays === undefined && (isOwn(url) || isTraceAddress(url)))
const keepRules = async ({ fault }: OpenCalls) => {
  if (replays !== undefined && fault !== undefined) {
    throw new HeddleError('graph_failed', `Calls cannot be answered here: ${fault}.`)
  }
  requireKept(project.effects ?? [], fault)
}
await keepRules(doors).catch(refuse)
const library = await GraphLibrary.open(project, loads).catch(refuse)
await library.requireServable().catch(refuse)
if (project.mask && (recorder ?? replays)) {
  const { openMask } = await import('../recording/project-mask.ts')
  mask = await openMask(project.root, project.mask, env).catch(refuse)
}
// The next process may have the files and the memory that this one lacked.
const starved = library.failures.find(({ error }) => isMachineFault(error))
if (isInProcess && starved) refuse(starved.error)
loads(null)
keepThrown(library.langgraph)
nodeNow = () => nodeOf(library.langgraph)
const { unknown, ...shortcuts } = await takeShortcuts(library,
  shortcutsOn(process.env.HEDDLE_ENGINE_SHORTCUTS))
const { serde } = new library.langgraph.MemorySaver()
let unread = 0
const codec = new ValueCodec(library.messages, serde, (error) => {
  if (unread++ > 0) return
  env.log.warn('A stored value cannot be deserialized: graphs get the JSON that the API shows. ' +
    'Its class may have moved. Later ones are not reported.', { error })
})
const graphs = await library.describe(async (graphId, made) => {
  const graph = await atLatest(env, factoryMs, made)
  if (graph === undefined) {
    env.log.warn('The factory of a graph takes long: the start does not wait for it any more.', {
      graphId,
      ms: factoryMs,
    })
  }
  return graph
})
const described = new Map(graphs.map((graph) => [graph.graphId, graph]))
const bench: Workbench = {
  library,
  codec,
  serde,
  shortcuts,
  stores: GraphStores.of(library),
  uuid: () => env.uuid(),
  nowMs: () => env.nowMs(),
  warn: (message, details) => env.log.warn(message, details),
  // A replay needs the values of each step as they are.
  describe: (graphId) => replays ? undefined : described.get(graphId),
}
// If it fails, the project's own runs will show why.
await warmUp(bench).catch(() => {})
const effects = form?.over(library.langgraph)
const tracing = tracedRatio === undefined ? undefined : await openTracing(tracedRatio)
const openGates = [...doors.openGates, ...effects ? [effects.gate] : []]
const calls = await followCalls({ ...doors, openGates }, library.langgraph)
await keepRules(calls).catch(refuse)
const jobs = new JobRunner(bench, { batcher, lines }, env, { entered, mark }, {
  traces: tracing?.opened,
  recorder,
  replays,
  mails,
  openGates: calls.openGates,
  openEffects: effects?.open,
})
clientMayAsk()
receive = (mail) => jobs.receive(mail)
port.ref()
const failures = library.failures.map(({ graphId, error }) => ({ graphId, message: error.message }))
const version = unknown.length === 0 ? undefined : await engineVersion()
batcher.send({ type: 'ready', graphs, failures, unknown,
  ...version !== undefined && { engine: { version, nearestKnown: nearestKnown(version) } },
  ...tracing?.untraced !== undefined && { untraced: tracing.untraced },
  ...calls.fault !== undefined && { unwatched: calls.fault } })
// A graph process is killed at its end. The next one starts in two thirds of the time.
if (isInProcess) flushCompileCache()

/** The tracing of runs' steps, or the reason why there is none. */
async function openTracing(
  ratio: number,
): Promise<{ readonly opened?: StepTraces; readonly untraced?: string }> {
  // A graph has one tracer only.
  if (isTracingOn()) return { untraced: 'it sends its traces elsewhere (LANGSMITH_TRACING)' }
  const { StepTraces } = await import('../engine/step-traces.ts')
  const traces = await StepTraces.open({ ratio, send: mails.send, nowMs: () => env.nowMs(),
    uuid: () => env.uuid() })
  return typeof traces === 'string' ? { untraced: traces } : { opened: traces }
}

/** Removes a handle from what Node lists as open in this thread. */
function hideHandle(handle: object): void {
  const listing = process as unknown as { _getActiveHandles(): object[] }
  const list = listing._getActiveHandles.bind(process)
  listing._getActiveHandles = () => list().filter((each) => each !== handle)
}

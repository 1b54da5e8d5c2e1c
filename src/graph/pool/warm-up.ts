/** Runs a graph of our own first in a new worker, so that no user pays for a cold start. */

import { DrainControl } from '../engine/drain-control.ts'
import { execute } from '../engine/runner.ts'
import type { Workbench } from '../engine/runner.ts'
import { StepOutbox } from '../events/step-outbox.ts'
import type { ExecutionOutcome, RunRequest } from '../execution.ts'

const tracingVariables = ['LANGSMITH_TRACING_V2', 'LANGCHAIN_TRACING_V2', 'LANGSMITH_TRACING',
  'LANGCHAIN_TRACING']

const request: RunRequest = {
  kind: 'run',
  input: JSON.stringify({ messages: [{ role: 'user', content: 'Line?' }] }),
  command: null,
  config: '{}',
  context: null,
  streamModes: ['values', 'updates'],
  streamSubgraphs: false,
  interruptBefore: null,
  interruptAfter: null,
  durability: 'async',
  checkpoint: null,
  emitted: [],
  asked: null,
}

/**
 * Runs a small graph. The first run compiles the engine and what is around it, and takes ten times
 * as long as the second. Skipped if tracing is on, because a tracer would report it. Throws if the
 * project's copy of the library cannot build such a graph.
 */
export async function warmUp(bench: Workbench): Promise<ExecutionOutcome | undefined> {
  if (isTracingOn()) return undefined
  const { MessagesAnnotation, StateGraph } = bench.library.langgraph
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('speak', () => ({ messages: [{ role: 'ai', content: 'Here I am.' }] }))
    .addEdge('__start__', 'speak').addEdge('speak', '__end__').compile()
  const library = Object.create(bench.library, { get: { value: async () => graph } })
  const [threadId, runId] = [bench.uuid(), bench.uuid()]
  return await execute({ ...bench, library }, {
    execution: { id: 0, tenant: '', threadId, graphId: '', runId, attempt: 1, headId: null,
      request },
    source: { tuple: async () => undefined, list: async () => [] },
    outbox: new StepOutbox({ send: () => {}, schedule: (flush) => void setImmediate(flush) }),
    memory: { newest: new Map(), empty: true },
    control: new DrainControl(() => {}),
    signal: new AbortController().signal,
    items: async () => [],
    entered: () => {},
  })
}

/** True if the project sends its traces somewhere by itself. */
export function isTracingOn(): boolean {
  const { env } = process
  return tracingVariables.some((name) => env[name] === 'true') || !!env.LANGCHAIN_TRACING
}

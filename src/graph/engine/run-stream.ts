/** Reads the engine's stream of a run to its end. */

import type { Chunk, ChunkSink } from '../events/event-mapping.ts'
import type { Execution } from '../execution.ts'
import type { ServedGraph } from '../project/graph-export.ts'

/** Whose stream it is. */
interface Reader {
  readonly execution: Execution
  /** Call whenever code of the execution runs. */
  readonly entered: () => void
}

/** Hands on every chunk of a stream. */
export async function consume(stream: AsyncIterable<unknown>, { subgraphs }: { subgraphs: boolean },
  sink: ChunkSink, { entered }: Pick<Reader, 'entered'>): Promise<void> {
  for await (const item of stream) {
    entered()
    sink.chunk(chunkOf(item, subgraphs))
  }
}

/**
 * Consumes the slow way: emits every call of every runnable, with the engine's own stream among
 * them.
 */
export async function consumeEvents(graph: ServedGraph, input: unknown,
  options: { subgraphs: boolean }, sink: ChunkSink,
  { execution: { runId }, entered }: Reader): Promise<void> {
  const { subgraphs } = options
  const events = graph.streamEvents(input as never, { ...options, version: 'v2' } as never)
  for await (const event of events as unknown as AsyncIterable<EngineEvent>) {
    entered()
    if (event.tags?.includes('langsmith:hidden')) continue
    if (event.event === 'on_chain_stream' && event.run_id === runId) {
      sink.chunk(chunkOf(event.data?.chunk, subgraphs))
    } else {
      sink.engineEvent(event)
    }
  }
}

interface EngineEvent {
  readonly event: string
  readonly run_id: string
  readonly tags?: readonly string[]
  readonly data?: { readonly chunk?: unknown }
}

function chunkOf(item: unknown, subgraphs: boolean): Chunk {
  const [namespace, mode, payload] = subgraphs
    ? item as [string[], string, unknown]
    : [[], ...item as [string, unknown]]
  return { namespace, mode, payload }
}

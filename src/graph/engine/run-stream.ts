/** Reads the engine's stream of a run to its end. */

import { listOf, memberOf } from '../../json/index.ts'
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
  const events = graph.streamEvents(input, { ...options, version: 'v2' })
  for await (const event of events) {
    entered()
    if (listOf(memberOf(event, 'tags')).includes('langsmith:hidden')) continue
    if (memberOf(event, 'event') === 'on_chain_stream' && memberOf(event, 'run_id') === runId) {
      sink.chunk(chunkOf(memberOf(memberOf(event, 'data'), 'chunk'), subgraphs))
    } else {
      sink.engineEvent(event)
    }
  }
}

function chunkOf(item: unknown, subgraphs: boolean): Chunk {
  const [namespace, mode, payload] = subgraphs
    ? item as [string[], string, unknown]
    : [[], ...item as [string, unknown]]
  return { namespace, mode, payload }
}

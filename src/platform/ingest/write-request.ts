/** Writes of a request: a block for the operations of each trace, and a row for each of them. */

import { sealBlockAside } from '../spans/block.ts'
import type { PayloadPart } from '../spans/payload.ts'
import type { FilePart, SpansOfRequest } from '../spans/span-port.ts'
import type { Block, BlockId, SpanPlace, SpanWrite, Term } from '../spans/span.ts'
import type { Pause, PlacedOperation } from './placing.ts'

/** Bytes from which on a block takes no more parts: who reads one span opens all of its block. */
const blockBytes = 1024 * 1024
/** Spans and bytes of one write: other requests have a turn between two of them. */
const [spansOfWrite, bytesOfWrite] = [250, 2 * 1024 * 1024]

/** Content of the writes of a request. Files are those of spans in the request. */
export interface WritesAsked {
  readonly tenant: string
  readonly operations: readonly PlacedOperation[]
  readonly files: readonly FilePart[]
  readonly nextUs: () => number
  readonly pause: Pause
}

/** The writes of a request, in their order. Each is made when it is asked for. */
export async function* writesOf(
  { tenant, operations, files, nextUs, pause }: WritesAsked,
): AsyncGenerator<SpansOfRequest, void, void> {
  const timeToLiveS = new Map(operations.map((one) => [one.place.project, one.timeToLiveS]))
  const said = new Map<string, Set<Term>>()
  const left = new Set(files)
  for (const slice of cut(operations, { count: spansOfWrite, bytes: bytesOfWrite })) {
    await pause()
    const blocks = await sealed(slice, pause)
    const spans = slice.map((one) => spanWrite(one, said, nextUs(), blocks.get(one)?.id ?? null))
    // A file lives as long as the spans of its trace that are written with it.
    const traces = new Set(spans.map(({ place }) => place.trace))
    const here = [...left].filter(({ ownerTrace }) => traces.has(ownerTrace))
    for (const file of here) left.delete(file)
    yield { tenant, spans, blocks: [...new Set(blocks.values())], files: here, timeToLiveS }
  }
}

function spanWrite({ operation, place, fields, isGuess }: PlacedOperation,
  said: Map<string, Set<Term>>, arrivedUs: number, block: BlockId | null): SpanWrite {
  const { kind, terms, indexed } = operation
  return { place, kind, arrivedUs, fields, ...unsaid(said, place, terms, indexed), block,
    ...isGuess && { isGuess } }
}

/** A patch repeats the terms of its post: they are written once. */
function unsaid(said: Map<string, Set<Term>>, { id, project }: SpanPlace, terms: readonly Term[],
  indexed: number): Pick<SpanWrite, 'terms' | 'indexed'> {
  const key = id + project
  const before = said.get(key)
  if (before === undefined) {
    said.set(key, new Set(terms))
    return { terms, indexed }
  }
  const isNew = (term: Term) => !before.has(term)
  const [first, rest] = [terms.slice(0, indexed).filter(isNew), terms.slice(indexed).filter(isNew)]
  for (const term of terms) before.add(term)
  return { terms: [...first, ...rest], indexed: first.length }
}

/** The operations that have a payload, each with its block. */
async function sealed(operations: readonly PlacedOperation[],
  pause: Pause): Promise<ReadonlyMap<PlacedOperation, Block>> {
  const blocks = new Map<PlacedOperation, Block>()
  const byTrace = Map.groupBy(operations.filter(hasPayload),
    ({ place }) => `${place.project} ${place.trace} ${place.traceStartUs}`)
  for (const ofTrace of byTrace.values()) {
    for (const some of cut(ofTrace, { count: Infinity, bytes: blockBytes })) {
      await pause()
      const block = await sealBlockAside(some[0]!.place, some.map(partOf))
      for (const one of some) blocks.set(one, block)
    }
  }
  return blocks
}

/** A post always has a part, so that a block shows whether a span was posted. */
function hasPayload({ operation: { kind, members } }: PlacedOperation): boolean {
  return kind === 'post' || Object.keys(members).length > 0
}

function partOf({ place, operation: { kind, members } }: PlacedOperation): PayloadPart {
  return { span: place.id, kind, members }
}

/** Slices in their order, each of which ends when it has as many operations or bytes. */
function* cut(all: readonly PlacedOperation[],
  max: { readonly count: number; readonly bytes: number }
): Generator<readonly PlacedOperation[], void, void> {
  let [slice, size] = [[] as PlacedOperation[], 0]
  for (const one of all) {
    slice.push(one)
    for (const bytes of Object.values(one.operation.members)) size += bytes.length
    if (slice.length < max.count && size < max.bytes) continue
    yield slice
    slice = []
    size = 0
  }
  if (slice.length > 0) yield slice
}

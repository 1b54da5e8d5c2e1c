/**
 * Reads the payloads of spans. Blocks are as long as clients make them, so only a few are in memory
 * at once. One that was opened is kept for the next spans, as long as there is room.
 */

import { LRUCache } from '../../../../cluster/index.ts'
import type { FairTurns } from '../../../../cluster/index.ts'
import { openBlock } from '../../spans/block.ts'
import { payloadOf } from '../../spans/payload.ts'
import type { PayloadPart } from '../../spans/payload.ts'
import type { SpanPort } from '../../spans/span-port.ts'
import type { BlockId, SpanHead, Uuid } from '../../spans/span.ts'
import { contentOf } from './content.ts'
import type { Content } from './content.ts'

/** Bytes of opened blocks that are kept for the next spans of a question. */
const keptBytes = 16 * 1024 * 1024
/** Blocks that are read at once. */
const blocksAtOnce = 4
/** Spans after which other work gets its turn. */
const groupMax = 500
/** Approximate bytes that a part takes besides its members. */
const partBytes = 200

/** Parts of an opened block by their span, in their order. */
type OpenedBlock = ReadonlyMap<Uuid, readonly PayloadPart[]>

/** Payloads of spans, for one question. */
export interface Payloads {
  /**
   * Spans with their contents, in their order. Removed blocks leave members out. Use a content
   * before the next one is asked for.
   */
  of(heads: readonly SpanHead[]): AsyncIterable<readonly [SpanHead, Content]>
}

/** Reads payloads from the blocks of a store. */
export function payloadsIn(store: Pick<SpanPort, 'blocks'>): Payloads {
  return new BlockPayloads(store)
}

/** Payloads that are read, and looked into, in slices that are charged to a tenant. */
export function inSlices(payloads: Payloads, slices: FairTurns, tenant: string): Payloads {
  const pause = slices.pauses(tenant)
  return {
    async *of(heads) {
      for await (const found of payloads.of(heads)) {
        await pause()
        yield found
      }
    },
  }
}

/** Spans that need few blocks that are not opened. */
interface Group {
  readonly end: number
  readonly missing: ReadonlyMap<string, readonly [SpanHead, BlockId]>
  /** Blocks that are opened. They are held, because they may be dropped from what is kept. */
  readonly held: Map<string, OpenedBlock>
}

class BlockPayloads implements Payloads {
  readonly #store: Pick<SpanPort, 'blocks'>
  readonly #kept = new LRUCache<string, OpenedBlock>({ maxSize: keptBytes })

  constructor(store: Pick<SpanPort, 'blocks'>) {
    this.#store = store
  }

  async *of(heads: readonly SpanHead[]): AsyncGenerator<readonly [SpanHead, Content], void, void> {
    // The blocks of the span before, also those that are too long to be kept.
    let last: ReadonlyMap<string, OpenedBlock> = new Map()
    let at = 0
    while (at < heads.length) {
      const { end, missing, held } = this.#nextGroup(heads, at, last)
      const data = await this.#read(missing)
      for (const head of heads.slice(at, end)) {
        const own = new Map<string, OpenedBlock>()
        for (const key of head.blocks.map((id) => keyOf(head, id))) {
          const block = last.get(key) ?? held.get(key) ?? this.#kept.get(key) ??
            this.#opened(key, data)
          if (block !== undefined) own.set(key, block)
        }
        last = own
        yield [head, contentOf(payloadOf(partsOf(head, own)))]
      }
      at = end
      await new Promise((turn) => setImmediate(turn))
    }
  }

  #nextGroup(heads: readonly SpanHead[], from: number,
    last: ReadonlyMap<string, OpenedBlock>): Group {
    const missing = new Map<string, readonly [SpanHead, BlockId]>()
    const held = new Map<string, OpenedBlock>()
    let end = from
    for (; end < heads.length && end - from < groupMax; end++) {
      const head = heads[end]!
      const more: BlockId[] = []
      for (const id of head.blocks) {
        const key = keyOf(head, id)
        const block = last.get(key) ?? this.#kept.get(key)
        if (block !== undefined) held.set(key, block)
        else if (!missing.has(key)) more.push(id)
      }
      if (end > from && missing.size + more.length > blocksAtOnce) break
      for (const id of more) missing.set(keyOf(head, id), [head, id])
    }
    return { end, missing, held }
  }

  async #read(missing: Group['missing']): Promise<ReadonlyMap<string, Uint8Array>> {
    const byTrace = Map.groupBy(missing.values(), ([{ project, trace }]) => `${project} ${trace}`)
    const read = await Promise.all([...byTrace.values()].map(async (own) => {
      const [head] = own[0]!
      const found = await this.#store.blocks(head, own.map(([, id]) => id))
      return [...found].map(([id, data]) => [keyOf(head, id), data] as const)
    }))
    return new Map(read.flat())
  }

  #opened(key: string, data: ReadonlyMap<string, Uint8Array>): OpenedBlock | undefined {
    const sealed = data.get(key)
    if (sealed === undefined) return undefined
    const parts = openBlock(sealed)
    const size = parts.reduce((sum, part) => sum + bytesOf(part), 1)
    const block = Map.groupBy(parts, ({ span }) => span)
    this.#kept.set(key, block, { size })
    return block
  }
}

function partsOf(head: SpanHead, blocks: ReadonlyMap<string, OpenedBlock>): readonly PayloadPart[] {
  return head.blocks.flatMap((id) => blocks.get(keyOf(head, id))?.get(head.id) ?? [])
}

function keyOf({ trace }: SpanHead, id: BlockId): string {
  return `${trace} ${id}`
}

function bytesOf({ members }: PayloadPart): number {
  return Object.values(members).reduce((sum, each) => sum + each.byteLength, partBytes)
}

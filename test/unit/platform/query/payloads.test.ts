/** Payloads are whole, however long the blocks are and whoever else reads. */

import { expect, it } from 'vitest'

import { noFields } from '../../../../src/platform/index.ts'
import type { Block, BlockId, SpanHead } from '../../../../src/platform/index.ts'
import { payloadsIn } from '../../../../src/platform/query/payload/payloads.ts'
import { sealBlock } from '../../../../src/platform/spans/block.ts'

const idOf = (index: number) => `0193a6b0-0000-7000-8000-${String(index).padStart(12, '0')}`

/**
 * Spans with a block each, of which four are so long that what was opened before does not stay. The
 * first and the last one share a block.
 */
function longSpans() {
  const trace = idOf(0)
  const sealed = (span: number, bytes: number) =>
    sealBlock(trace, 0, [{ span: idOf(span), kind: 'post', members: {
      inputs: Buffer.from(JSON.stringify(`in ${span} ${'x'.repeat(bytes)}`)),
    } }])
  const shared = sealBlock(trace, 0,
    [0, 8].map((span) => ({ span: idOf(span), kind: 'post',
      members: { inputs: Buffer.from(`"in ${span} x"`) } })
    ))
  const own = Array.from({ length: 9 },
    (_, index) => index % 8 === 0 ? shared : sealed(index, index < 4 ? 10 : 6 * 1024 * 1024))
  const blocks = new Map<BlockId, Block>(own.map((block) => [block.id, block]))
  const heads = own.map(({ id }, index): SpanHead => ({ ...noFields, tenant: 'acme', project: trace,
    startUs: index, id: idOf(index), trace, traceStartUs: 0, arrivedUs: 0, terms: [], blocks: [id],
    feedback: [] })
  )
  const store = { async blocks(_: unknown, ids: readonly BlockId[]) {
    await new Promise((turn) => setImmediate(turn))
    return new Map(ids.map((id) => [id, blocks.get(id)!.data]))
  } }
  return { heads, store }
}

it('Payloads are whole if what is opened does not stay, and if several read at once.', async () => {
  const { heads, store } = longSpans()
  const payloads = payloadsIn(store)
  const readers = Array.from({ length: 3 }, async () => {
    let index = 0
    for await (const [head, { payload }] of payloads.of(heads)) {
      expect(head).toBe(heads[index])
      expect(payload.inputs?.toString('utf8', 0, 7)).toBe(`"in ${index} x`)
      index++
    }
    expect(index).toBe(heads.length)
  })
  await Promise.all(readers)
})

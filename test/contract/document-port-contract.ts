/** What every store of documents promises. */

import { randomBytes, randomUUID } from 'node:crypto'

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import type { Document, DocumentPlace, DocumentRange } from '../../src/platform/index.ts'
import { expectAlways } from '../support/expect-always.ts'
import { memoryDocuments } from '../support/memory-documents.ts'
import { newTenant, useSpans } from './span-port-contract.ts'
import type { OpenSpans } from './span-port-contract.ts'

const aKey = fc.constantFrom('a', 'aa', 'b', 'b/1', 'b/2', 'C', 'z', '~', '0001', '0010')
const aBody = fc.uint8Array({ maxLength: 20 })
const aChange = fc.oneof(
  { weight: 4,
    arbitrary: fc.record({ kind: fc.constant('put' as const),
      documents: fc.uniqueArray(fc.record({ key: aKey, body: aBody }), { maxLength: 4,
        selector: ({ key }) => key }) }) },
  { weight: 2,
    arbitrary: fc.record({ kind: fc.constant('delete' as const),
      keys: fc.array(aKey, { maxLength: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('drop' as const) }) },
)
const aRange: fc.Arbitrary<DocumentRange> = fc.record({ after: aKey, before: aKey,
  reverse: fc.boolean(), limit: fc.integer({ min: 1, max: 12 }),
  bytes: fc.integer({ min: 0, max: 60 }) }, { requiredKeys: ['limit'] })

export function describeDocumentPort(name: string, open: () => Promise<OpenSpans>): void {
  describe(`the documents of the ${name} store`, () => {
    const { writer, reader } = lazily(useSpans(open))

    it('are what was written last, in the order of keys', async () => {
      await expectAlways(
        fc.asyncProperty(fc.array(aChange, { maxLength: 8 }), aRange, async (changes, range) => {
          const place = aPlace()
          const model = memoryDocuments()
          for (const port of [model, writer()]) {
            for (const change of changes) {
              if (change.kind === 'put') await port.putDocuments(place, change.documents)
              if (change.kind === 'delete') await port.deleteDocuments(place, change.keys)
              if (change.kind === 'drop') await port.dropDocuments(place)
            }
          }
          expect(plain(await reader().listDocuments(place, range)))
            .toEqual(plain(await model.listDocuments(place, range)))
          const keys = ['a', 'b/1', 'none', '0010', 'a']
          expect(byKey(await reader().getDocuments(place, keys)))
            .toEqual(byKey(await model.getDocuments(place, keys)))
        }),
        { share: 3 },
      )
    })

    it('are apart by tenant, kind and owner', async () => {
      const place = aPlace()
      const others: DocumentPlace[] = [{ ...place, tenant: newTenant() }, { ...place,
        kind: 'example' }, { ...place, owner: randomUUID() }]
      await writer().putDocuments(place, [{ key: 'k', body: Buffer.from('mine') }])
      for (const other of others) {
        expect(await reader().getDocuments(other, ['k'])).toEqual([])
        await writer().dropDocuments(other)
      }
      expect(plain(await reader().getDocuments(place, ['k']))).toEqual([['k', 'mine']])
    })

    it('may be large, be replaced and be gone', async () => {
      const place = aPlace()
      const [first, second] = [randomBytes(3_000_000), randomBytes(900_000)]
      await writer().putDocuments(place, [{ key: 'large', body: first }, { key: 'small',
        body: Buffer.from('s') }])
      const [read] = await reader().getDocuments(place, ['large'])
      expect(first.equals(read!.body)).toBe(true)
      await writer().putDocuments(place, [{ key: 'large', body: second }])
      const [again, small] = await reader().listDocuments(place, { limit: 10 })
      expect(second.equals(again!.body)).toBe(true)
      expect(small!.key).toBe('small')
      await writer().deleteDocuments(place, ['large'])
      expect(await reader().getDocuments(place, ['large'])).toEqual([])
      await writer().dropDocuments(place)
      expect(await reader().listDocuments(place, { limit: 10 })).toEqual([])
    })
  })
}

/** The store is open only when a test runs. */
function lazily(spans: OpenSpans) {
  return { writer: () => spans.writer, reader: () => spans.reader }
}

function aPlace(): DocumentPlace {
  return { tenant: newTenant(), kind: 'commit', owner: randomUUID() }
}

function plain(documents: readonly Document[]): readonly (readonly [string, string])[] {
  return documents.map(({ key, body }) => [key, Buffer.from(body).toString('latin1')])
}

function byKey(documents: readonly Document[]) {
  return plain(documents).toSorted(([a], [b]) => (a < b ? -1 : 1))
}

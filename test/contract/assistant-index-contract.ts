/** What every assistant index promises: rows by id, search and count. */

import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import type { AssistantRow } from '../../proto/gen/storage/v1/row.ts'
import type { AssistantQuery } from '../../src/search/index.ts'
import { anAssistant } from './rows.ts'
import { filters, matchingAssistants, pageOfAssistants } from './search-model.ts'
import { useStore } from './store-place.ts'
import type { MakePlace } from './store-place.ts'
import { expectAlways } from '../support/expect-always.ts'

export function describeAssistantIndex(name: string, makePlace: MakePlace): void {
  describe(`the assistant index of the ${name} store`, () => {
    const store = useStore(makePlace)

    const put = (...rows: AssistantRow[]) =>
      store.log.append([], rows.map((row) => ({ table: 'assistant', row })))

    it('gives back every field of the newest row', async () => {
      const row = anAssistant({
        epoch: 2,
        seq: 4,
        graphId: 'other',
        name: 'Näme',
        descriptionJson: '"d"',
        configJson: '{"a":1}',
        contextJson: '{"b":2}',
        metadataJson: '{"c":3}',
        createdAtMs: 1,
        updatedAtMs: 2,
        version: 3,
        newestVersion: 5,
        applied: [{ id: 'h', seq: 4 }],
      })
      await put(anAssistant({ assistantId: row.assistantId, branch: row.branch! }), row)
      expect(await store.assistants.get('local', row.assistantId)).toEqual(row)
      expect(await store.assistants.get('other', row.assistantId)).toBeUndefined()
    })

    it('ignores a row for an earlier position of the log', async () => {
      const row = anAssistant({ epoch: 2, seq: 5, name: 'new' })
      await put(row, { ...row, seq: 4, name: 'old' }, { ...row, epoch: 1, seq: 9, name: 'old' })
      expect(await store.assistants.get('local', row.assistantId)).toEqual(row)
      const again = anAssistant({ assistantId: row.assistantId, epoch: 2, seq: 1 })
      await put(again)
      expect(await store.assistants.get('local', row.assistantId)).toEqual(again)
    })

    it('finds a part of a name in any case and any script', async () => {
      const tenant = randomUUID()
      const names = ['Grüße an ALLE', 'ΣΊΣΥΦΟΣ', '100%_done', 'plain']
      const rows = names.map((each) => anAssistant({ tenant, name: each }))
      await put(...rows)
      const found = async (part: string) => {
        const query = { tenant, name: part, sortBy: 'name', sortOrder: 'asc', limit: 9, offset: 0 }
        const { rows } = await store.assistants.search(query as AssistantQuery)
        return rows.map(({ name }) => name)
      }
      expect(await found('GRÜSSE')).toEqual(['Grüße an ALLE'])
      expect(await found('grüß')).toEqual(['Grüße an ALLE'])
      expect(await found('σίσυφος')).toEqual(['ΣΊΣΥΦΟΣ'])
      expect(await found('%_D')).toEqual(['100%_done'])
      expect(await found('%')).toEqual(['100%_done'])
      expect((await found('')).length).toBe(4)
    })

    it('agrees with the model in search and count', async () => {
      const metadata = fc.dictionary(fc.constantFrom('x', 'y'),
        fc.constantFrom<unknown>(1, '1', null, [1, { a: 1 }], { a: { b: 1 } }, []), { maxKeys: 2 })
      const names = fc.constantFrom('Alpha', 'alphabet', 'BETA', 'b', '')
      const row = fc.record({
        graphId: fc.constantFrom('one', 'two'),
        name: names,
        createdAtMs: fc.nat(3),
        updatedAtMs: fc.nat(3),
        metadataJson: metadata.map((each) => JSON.stringify(each)),
      })
      const query = fc.record({
        sortBy: fc.constantFrom('assistant_id', 'graph_id', 'name', 'created_at', 'updated_at'),
        sortOrder: fc.constantFrom('asc', 'desc'),
        limit: fc.constantFrom(1, 3, 100),
        offset: fc.constantFrom(0, 1, 4),
        graphId: fc.constantFrom('one', undefined),
        name: fc.oneof(names, fc.constant(undefined)),
        metadata: fc.oneof(metadata, fc.constant(undefined)),
        allowed: fc.constantFrom(...filters),
      })
      await expectAlways(
        fc.asyncProperty(fc.array(row, { maxLength: 12 }),
          fc.array(query, { minLength: 1, maxLength: 4 }), async (fields, queries) => {
          const tenant = randomUUID()
          const rows = fields.map((each) => anAssistant({ ...each, tenant }))
          await put(...rows)
          for (const each of queries) {
            const query = { ...each, tenant } as AssistantQuery
            const answer = await store.assistants.search(query)
            expect(answer.rows).toEqual(pageOfAssistants(rows, query))
            expect(answer.total).toBe(matchingAssistants(rows, query).length)
            expect(await store.assistants.count(query)).toBe(answer.total)
          }
        }),
      )
    })
  })
}

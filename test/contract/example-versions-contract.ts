/** What versions of datasets promise, over every store of documents. */

import { randomUUID } from 'node:crypto'

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { stampOf, timeTextUs } from '../../src/platform/index.ts'
import type { ExamplesCall } from '../../src/platform/index.ts'
import { expectAlways } from '../support/expect-always.ts'
import { oneDataset } from '../support/memory-datasets.ts'
import { useSpans } from './span-port-contract.ts'
import type { OpenSpans } from './span-port-contract.ts'

const ids: readonly string[] = Array.from({ length: 7 }, () => randomUUID())
const anId = fc.nat(ids.length - 1).map((index) => ids[index]!)
const someIds = fc.uniqueArray(anId, { minLength: 1, maxLength: 5 })
const aSplit = fc.constantFrom('base', 'train', 'test')
const aStep = fc.oneof(
  fc.record({ kind: fc.constant('create' as const), ids: someIds, value: fc.nat(3) }),
  fc.record({ kind: fc.constant('update' as const), ids: someIds, value: fc.nat(3) }),
  fc.record({ kind: fc.constant('split' as const), ids: someIds, split: aSplit,
    remove: fc.boolean() }),
  fc.record({ kind: fc.constant('remove' as const), ids: someIds }),
  fc.record({ kind: fc.constant('erase' as const), ids: someIds }),
)

interface Example {
  readonly value: number
  readonly splits: readonly string[]
}
type Model = ReadonlyMap<string, Example>

/** What a step makes of a version; undefined if it is refused. */
function after(model: Model, step: Step): Model | undefined {
  const next = new Map(model)
  for (const id of step.ids) {
    const known = model.get(id)
    if (step.kind === 'create') {
      if (known !== undefined && (known.value !== step.value)) return undefined
      next.set(id, { value: step.value, splits: ['base'] })
    } else if (step.kind === 'update') {
      if (known === undefined) return undefined
      next.set(id, { ...known, value: step.value })
    } else if (step.kind === 'split') {
      if (known === undefined) continue
      const others = known.splits.filter((each) => each !== step.split)
      const splits = step.remove
        ? others
        : known.splits.includes(step.split)
        ? known.splits
        : [...known.splits, step.split]
      next.set(id, { ...known, splits })
    } else {
      next.delete(id)
    }
  }
  return next
}

type Step = typeof aStep extends fc.Arbitrary<infer Value> ? Value : never
type House = ReturnType<typeof oneDataset>

function call(house: House, step: Step): ExamplesCall {
  const { tenant, dataset: { id: dataset } } = house
  const examples = step.ids.map((id) => ({ id, ...'value' in step &&
    { inputs: { value: step.value } } })
  )
  const operation = 'remove' in step && step.remove ? 'ARRAY_REMOVE' : 'ARRAY_ADD'
  const bodies = { create: examples, update: examples, remove: step.ids, erase: step.ids,
    split: { example_ids: step.ids,
      operations: [{ key: 'dataset_split', operation,
        values: ['split' in step ? step.split : ''] }] } }
  const form = step.kind === 'split' ? 'metadata' : step.kind
  return { tenant, dataset, form, contentType: '',
    body: Buffer.from(JSON.stringify(bodies[step.kind])) }
}

async function seen(house: House, asOf?: string): Promise<Model> {
  const { tenant, dataset, reads } = house
  const found = new Map<string, Example>()
  let from: { at: number; skip: number } | undefined = { at: 0, skip: 0 }
  while (from !== undefined) {
    const page: Awaited<ReturnType<typeof reads.examples>> = await reads.examples({ tenant, dataset,
      ...asOf !== undefined && { asOf }, from, limit: 3, newestFirst: false,
      shown: { outputs: true, metadata: true, files: true }, links: { secret: '', expiresS: 0 } })
    for (const text of page.texts) {
      const { id, inputs, metadata } = JSON.parse(text) as { id: string; inputs: { value: number };
        metadata: { dataset_split: string[] } }
      found.set(id, { value: inputs.value, splits: metadata.dataset_split })
    }
    from = page.next
  }
  return found
}

const sorted = (model: Model) => [...model].toSorted(([a], [b]) => a < b ? -1 : 1)

export function describeExampleVersions(name: string, open: () => Promise<OpenSpans>): void {
  describe(`versions of datasets over the ${name} store`, () => {
    const spans = useSpans(open)

    it('are what a model says, each of them, for ever', async () => {
      await expectAlways(
        fc.asyncProperty(fc.array(aStep, { maxLength: 9 }), async (steps) => {
          const house = oneDataset(spans.writer, spans.reader)
          const writes = house.writes()
          const versions = new Map<string, Model>()
          let model: Model = new Map()
          for (const step of steps) {
            const wanted = after(model, step)
            const change = writes.changeExamples(call(house, step))
            if (wanted === undefined) {
              await expect(change).rejects.toThrow()
              continue
            }
            await change
            model = wanted
            if (step.kind === 'erase') {
              for (const [version, old] of versions) {
                versions.set(version, new Map([...old].filter(([id]) => !step.ids.includes(id))))
              }
            }
            const { head } = house.dataset
            if (head !== null) versions.set(head, model)
          }
          expect(sorted(await seen(house))).toEqual(sorted(model))
          expect(house.dataset.count).toBe(model.size)
          for (const [version, old] of versions) {
            expect(sorted(await seen(house, timeTextUs(stampOf(version))))).toEqual(sorted(old))
          }
        }),
        { share: 3 },
      )
    })

    it('lose no example when several members change a dataset at once', async () => {
      const house = oneDataset(spans.writer, spans.reader)
      const members = Array.from({ length: 4 }, () => house.writes())
      const added: readonly string[] = Array.from({ length: 12 }, () => randomUUID())
      await Promise.all(added.map((id, index) =>
        members[index % members.length]!.changeExamples(
          call(house, { kind: 'create', ids: [id], value: index }),
        )
      ))
      expect([...(await seen(house)).keys()].sort()).toEqual(added.toSorted())
      const all = await house.reads.datasetVersions({ tenant: house.tenant, dataset: house.dataset,
        limit: 100, offset: 0 })
      expect(all).toHaveLength(added.length)
    })

    it('show nothing of a change that ends before it is published', async () => {
      const house = oneDataset(spans.writer, spans.reader)
      const [first = '', lost = '', second = ''] = ids
      await house.writes().changeExamples(call(house, { kind: 'create', ids: [first], value: 1 }))
      const broken = house.writes({ ...house.catalog, publish: async () => {
        throw new Error('The member died.')
      } })
      await expect(
        broken.changeExamples(call(house, { kind: 'create', ids: [lost], value: 2 })),
      ).rejects.toThrow('died')
      expect([...(await seen(house)).keys()]).toEqual([first])
      await house.writes().changeExamples(call(house, { kind: 'create', ids: [second], value: 3 }))
      await house.writes().changeExamples(call(house, { kind: 'create', ids: [lost], value: 4 }))
      expect(sorted(await seen(house))).toEqual(sorted(new Map([first, second, lost]
        .map((id, index) => [id, { value: [1, 3, 4][index]!, splits: ['base'] }] as const))))
      const versions = await house.reads.datasetVersions({ tenant: house.tenant,
        dataset: house.dataset, limit: 100, offset: 0 })
      expect(versions).toHaveLength(3)
    })
  })
}

/** A catalog: names are taken once, whoever races, and whenever its owner dies. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import type { CatalogCommand } from '../../../../src/platform/records/catalog/catalog-command.ts'
import type { CatalogRecord } from '../../../../src/platform/records/catalog/catalog-record.ts'
import { expectAlways } from '../../../support/expect-always.ts'
import { settled } from '../../../support/thread-house.ts'
import { CatalogHouse, newRecord } from './catalog-house.ts'
import type { Fate } from './catalog-house.ts'

/** A catalog as simple as can be: what each command does to a list of records. */
class Model {
  records: { id: string; name: string; body: Record<string, unknown> }[] = []

  apply(command: CatalogCommand): unknown {
    switch (command.kind) {
      case 'ensure':
        return command.records.map(({ id, name }) => {
          const known = this.#named(name)
          if (known) return known.id
          this.records.push({ id, name, body: {} })
          return id
        })
      case 'create': {
        const { record: { id, name, bodyJson }, ifExists } = command
        const known = this.#named(name)
        if (known && !ifExists) return 'exists'
        if (known) {
          Object.assign(known.body, JSON.parse(ifExists!.bodyJson!))
          return known.id
        }
        if (this.records.some((each) => each.id === id)) return 'exists'
        this.records.push({ id, name, body: JSON.parse(bodyJson) as Record<string, unknown> })
        return id
      }
      case 'change': {
        const known = this.records.find(({ id }) => id === command.id)
        if (!known) return 'not_found'
        const { name, bodyJson } = command.change
        const holder = name === undefined ? undefined : this.#named(name)
        if (holder && holder !== known) return 'exists'
        if (name !== undefined) known.name = name
        if (bodyJson !== undefined) Object.assign(known.body, JSON.parse(bodyJson))
        return known.id
      }
      case 'delete': {
        const known = this.records.find(({ id }) => id === command.id)
        if (!known) return 'not_found'
        this.records = this.records.filter((each) => each !== known)
        return 'deleted'
      }
      default:
        return undefined
    }
  }

  #named(name: string) {
    return this.records.find((each) => each.name === name)
  }
}

/** What the catalog says, in the words of the model. */
function inShort(command: CatalogCommand, outcome: unknown): unknown {
  if (typeof outcome === 'string') return outcome
  if (command.kind === 'delete') return 'deleted'
  if (command.kind === 'ensure') return (outcome as CatalogRecord[]).map(({ id }) => id)
  return (outcome as CatalogRecord).id
}

const name = fc.constantFrom('a', 'b', 'c', 'd')
const body = fc.dictionary(fc.constantFrom('x', 'y'), fc.nat(3)).map((each) => JSON.stringify(each))

/** Commands on few names and ids, so that they meet. */
const command = (ids: fc.Arbitrary<string>): fc.Arbitrary<CatalogCommand> =>
  fc.oneof(
    fc.record({ kind: fc.constant('ensure' as const),
      records: fc.array(fc.tuple(name, fc.uuid()), { minLength: 1, maxLength: 3 })
        .map((all) => all.map(([each, id]) => newRecord({ id, name: each }))) }),
    fc.tuple(name, ids, body).map(([each, id, bodyJson]) => ({ kind: 'create' as const,
      record: newRecord({ id, name: each, bodyJson }) })
    ),
    fc.tuple(name, ids, body).map(([each, id, bodyJson]) => ({ kind: 'create' as const,
      record: newRecord({ id, name: each, bodyJson }), ifExists: { bodyJson } })
    ),
    fc.tuple(ids, fc.option(name, { nil: undefined }), body).map(([id, each, bodyJson]) => ({
      kind: 'change' as const,
      id,
      change: { bodyJson, ...each !== undefined && { name: each } },
    })),
    ids.map((id) => ({ kind: 'delete' as const, id })),
  )

const commands = command(fc.constantFrom('1', '2', '3', '4'))
const fates = fc.constantFrom<Fate>('done', 'done', 'lost before', 'lost after')

async function contentOf(house: CatalogHouse) {
  const { records } = await house.list()
  return records.map(({ id, name: each, bodyJson }) => ({ id, name: each,
    body: JSON.parse(bodyJson) as unknown })
  )
}

const byName = (records: Model['records']) => records.toSorted((a, b) => (a.name < b.name ? -1 : 1))

describe('a catalog', () => {
  it('does each command once, whenever its owner dies', async () => {
    await expectAlways(
      fc.asyncProperty(fc.array(fc.tuple(commands, fates), { maxLength: 25 }), async (story) => {
        const house = new CatalogHouse({ spareRows: 3 })
        const model = new Model()
        for (const [each, fate] of story) {
          const wanted = model.apply(structuredClone(each))
          expect(inShort(each, await house.outcome(each, fate))).toEqual(wanted)
        }
        expect(await contentOf(house)).toEqual(byName(model.records))
        house.start()
        expect(await contentOf(house)).toEqual(byName(model.records))
      }),
      { share: 3 },
    )
  })

  it('takes racing commands one at a time', async () => {
    await expectAlways(
      fc.asyncProperty(fc.array(commands, { minLength: 2, maxLength: 20 }), async (racing) => {
        const house = new CatalogHouse({ spareRows: 3 })
        const model = new Model()
        const outcomes = racing.map((each) =>
          house.ask(each).catch(({ code }: { readonly code: string }) => code)
        )
        await settled()
        house.env.advance(1_000)
        const wanted = racing.map((each) => model.apply(structuredClone(each)))
        const found = await Promise.all(outcomes)
        expect(racing.map((each, at) => inShort(each, found[at]))).toEqual(wanted)
        expect(await contentOf(house)).toEqual(byName(model.records))
      }),
      { share: 3 },
    )
  })

  it.each([0, 1])('answers nothing as a deposed owner of %i records', async (count) => {
    const house = new CatalogHouse()
    const names = ['a'].slice(0, count)
    for (const name of names) await house.create({ name })
    const { promise, resolve } = Promise.withResolvers<void>()
    house.log.gate = promise
    const late = house.create({ name: 'b' }).catch(({ code }: { readonly code: string }) => code)
    await settled()
    house.start()
    house.log.gate = Promise.resolve()
    expect(await house.names()).toEqual(names)
    resolve()
    expect(await late).toBe('stale_append')
    expect(await house.names()).toEqual(names)
  })

  it('knows a command from before its newest snapshot', async () => {
    const house = new CatalogHouse({ spareRows: -100 })
    const command = { kind: 'create', record: newRecord({ name: 'a' }) } as const
    const made = await house.ask(command, 'the command')
    await settled()
    house.start()
    expect(await house.ask(command, 'the command')).toEqual(made)
    expect(new Set(house.log.rows.map(({ branch }) => branch.id)).size).toBe(2)
  })

  it('lets no repeated question for names stand for other records', async () => {
    const house = new CatalogHouse()
    const command = { kind: 'ensure',
      records: [newRecord({ name: 'a' }), newRecord({ name: 'b' })] } as const
    await house.ask(command, 'the command')
    expect(await house.ask(command, 'the command')).toMatchObject([{ name: 'a' }, { name: 'b' }])
    await house.outcome({ kind: 'delete', id: 'id of a' })
    await expect(house.ask(command, 'the command')).rejects.toMatchObject({ code: 'unavailable' })
  })

  it('answers a deletion when nobody uses the record any more', async () => {
    const house = new CatalogHouse()
    await house.create({ name: 'a' })
    await house.create({ name: 'b' })
    house.env.advance(1_000)
    await house.ask({ kind: 'delete', id: 'id of b' })
    await house.ask({ kind: 'get', ids: ['id of a'], keeps: true })
    house.env.advance(400)
    let answered = false
    const deleted = house.ask({ kind: 'delete', id: 'id of a' }).then(() => answered = true)
    await settled()
    expect(await house.names()).toEqual([])
    house.env.advance(599)
    await settled()
    expect(answered).toBe(false)
    house.env.advance(1)
    await deleted
    expect(house.env.timers()).toBe(1)
  })

  it('leaves the answer of a deletion to the next owner', async () => {
    const house = new CatalogHouse()
    await house.create({ name: 'a' })
    const deletion = { kind: 'delete', id: 'id of a' } as const
    const deleted = house.ask(deletion, 'the deletion')
      .catch(({ code }: { readonly code: string }) => code)
    await settled()
    await house.close()
    expect(await deleted).toBe('not_owner')
    house.start()
    const again = house.ask(deletion, 'the deletion')
    await settled()
    house.env.advance(1_000)
    expect(await again).toBe(null)
  })

  it('keeps a log that is not much longer than its records', async () => {
    const house = new CatalogHouse({ spareRows: 10 })
    await house.create({ name: 'gone' })
    await house.outcome({ kind: 'delete', id: 'id of gone' })
    await house.create({ name: 'a' })
    for (let n = 0; n < 100; n++) {
      await house.ask({ kind: 'change', id: 'id of a', change: { bodyJson: `{"n":${n}}` } })
    }
    await settled()
    expect(house.log.rows.length).toBeLessThan(45)
    expect(house.log.rows.some(({ body }) => Buffer.from(body).includes('gone'))).toBe(false)
    house.start()
    expect(await contentOf(house)).toEqual([{ id: 'id of a', name: 'a', body: { n: 99 } }])
  })

  it.each(Array.from({ length: 14 }, (_, count) => count))(
    'loses nothing that it answered when its owner dies after %i appends',
    async (count) => {
      const house = new CatalogHouse({ spareRows: -100 })
      house.log.appendsLeft = count
      const answered = new Set<string>()
      const create = async (name: string) => {
        const record = newRecord({ name })
        void house.ask({ kind: 'create', record }, name).then(() => answered.add(name))
        await settled()
      }
      for (const each of ['a', 'b', 'c']) await create(each)
      house.start()
      expect(await house.names()).toEqual(expect.arrayContaining([...answered]))
      for (const each of ['a', 'b', 'c']) await create(each)
      expect(await house.names()).toEqual(['a', 'b', 'c'])
    },
  )

  it('removes the branch that it left, also if that was interrupted', async () => {
    const house = new CatalogHouse({ spareRows: 2 })
    await house.create({ name: 'a' })
    house.log.purges = false
    for (let n = 0; n < 8; n++) {
      await house.ask({ kind: 'change', id: 'id of a', change: { bodyJson: `{"n":${n}}` } })
      await settled()
      if (house.log.refused > 0) break
    }
    const branches = () => new Set(house.log.rows.map(({ branch }) => branch.id)).size
    expect(branches()).toBe(3)
    house.log.purges = true
    house.start()
    expect(await house.names()).toEqual(['a'])
    expect(branches()).toBe(2)
    house.start()
    expect(await house.names()).toEqual(['a'])
  })

  it('refuses what it has no room for, and says what the limit is', async () => {
    const house = new CatalogHouse({ records: 2, characters: 1_000, recordCharacters: 600,
      nameCharacters: 10 })
    await house.create({ name: 'a' })
    await expect(house.create({ name: 'a'.repeat(11) })).rejects.toMatchObject({ code: 'invalid' })
    await expect(house.create({ name: 'b', bodyJson: `{"x":"${'x'.repeat(600)}"}` })).rejects
      .toMatchObject({ code: 'invalid' })
    await house.create({ name: 'b', bodyJson: `{"x":"${'x'.repeat(400)}"}` })
    const full = { code: 'full', message: expect.stringContaining('room for 2 records') as string }
    await expect(house.create({ name: 'c' })).rejects.toMatchObject(full)
    await expect(house.ask({ kind: 'ensure', records: [newRecord({ name: 'c' })] })).rejects
      .toMatchObject(full)
    const longer = { bodyJson: `{"x":"${'x'.repeat(400)}"}` }
    await expect(house.ask({ kind: 'change', id: 'id of a', change: longer })).rejects
      .toMatchObject(full)
    await house.ask({ kind: 'change', id: 'id of b', change: { bodyJson: '{"x":1}' } })
    await house.ask({ kind: 'change', id: 'id of a', change: longer })
  })

  it('changes a record only if it is as expected: of racing changes one wins', async () => {
    const house = new CatalogHouse()
    await house.create({ name: 'a' })
    const change = (head: string) =>
      house.ask({ kind: 'change', id: 'id of a',
        change: { expected: { head: null }, bodyJson: JSON.stringify({ head }) } })
        .then(() => head, ({ code }: { readonly code: string }) => code)
    const outcomes = await Promise.all(['x', 'y', 'z'].map(change))
    expect(outcomes.toSorted()).toEqual(['stale', 'stale', 'x'])
    house.start()
    expect(await change('later')).toBe('stale')
  })

  it('counts the bytes that its records keep elsewhere, also for the next owner', async () => {
    const house = new CatalogHouse({ heldBytes: 100 })
    await house.create({ name: 'a', heldBytes: 60 })
    const hold = (heldBytesAdded: number) =>
      house.ask({ kind: 'change', id: 'id of a', change: { heldBytesAdded } })
    house.start()
    await expect(hold(41)).rejects.toMatchObject({ code: 'full' })
    await expect(house.create({ name: 'b', heldBytes: 41 })).rejects.toMatchObject({ code: 'full' })
    await hold(-20)
    await house.create({ name: 'b', heldBytes: 60 })
    await expect(hold(1)).rejects.toMatchObject({ code: 'full' })
    await hold(-1)
  })
})

describe('a list of a catalog', () => {
  it('filters, sorts and pages', async () => {
    const house = new CatalogHouse()
    await house.create({ name: 'Apple', orderMs: 3, metadataJson: '{"k":{"a":1,"b":2}}' })
    await house.create({ name: 'apricot', orderMs: 1, parentId: 'p' })
    await house.create({ name: 'pear', orderMs: 2, metadataJson: '{"k":{"a":2}}' })
    expect(await house.names({ nameContains: 'AP' })).toEqual(['Apple', 'apricot'])
    expect(await house.names({ name: 'pear' })).toEqual(['pear'])
    expect(await house.names({ name: 'pear', ids: ['id of Apple'] })).toEqual([])
    expect(await house.names({ ids: ['id of pear', 'id of Apple', 'nobody'] }))
      .toEqual(['Apple', 'pear'])
    expect(await house.names({ parentIds: ['p'] })).toEqual(['apricot'])
    expect(await house.names({ hasParent: true })).toEqual(['apricot'])
    expect(await house.names({ hasParent: false })).toEqual(['Apple', 'pear'])
    expect(await house.names({ parentIds: [''] })).toEqual(['Apple', 'pear'])
    expect(await house.names({ metadata: { k: { a: 1 } } })).toEqual(['Apple'])
    expect(await house.names({ sortBy: 'order' })).toEqual(['apricot', 'pear', 'Apple'])
    const page = await house.list({ sortBy: 'order', descending: true, limit: 1, offset: 1 })
    expect(page).toMatchObject({ total: 3, records: [{ name: 'pear' }] })
  })

  it('goes on after a record that was deleted meanwhile', async () => {
    const house = new CatalogHouse()
    for (const each of ['a', 'b', 'c', 'd']) await house.create({ name: each })
    const after = (await house.list({ limit: 2 })).records.at(-1)!
    await house.outcome({ kind: 'delete', id: after.id })
    await house.outcome({ kind: 'delete', id: 'id of a' })
    expect(await house.names({ limit: 2, after })).toEqual(['c', 'd'])
    expect(await house.names({ descending: true, after })).toEqual([])
  })

  it('lets others have their turn while it looks through metadata', async () => {
    const house = new CatalogHouse()
    await house.ask({ kind: 'ensure',
      records: Array.from({ length: 1_200 }, (_, n) => newRecord({ name: `n${n}` })) })
    const page = house.ask({ kind: 'list',
      query: { sortBy: 'name', descending: false, limit: 100, offset: 0, metadata: {} } })
    await settled()
    expect(house.env.timers()).toBe(2)
    house.env.advance(0)
    await settled()
    house.env.advance(0)
    expect(await page).toMatchObject({ total: 1_200 })
  })
})

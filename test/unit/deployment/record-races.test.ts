/** Callers who race or die at any step lose no chunk, no number and no room for ever. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import type { RevisionUse } from '../../../src/deployment/index.ts'
import { expectAlways } from '../../support/expect-always.ts'
import { sha256, textsOf } from '../../support/project-manifest.ts'
import { Dead, RecordsHouse } from './records-house.ts'

const page = { limit: 1_000, offset: 0 }
const nobody: ReadonlyMap<string, RevisionUse> = new Map()
const packages = { p: ['p one', 'p two'] }
const projectOf = (own: number) => ({ own: [`own ${own}`], packages })

/** Pauses of calls that look like chance. */
function pauses(seed: number) {
  let state = seed + 1
  return async () => {
    state = (state * 48_271) % 2_147_483_647
    for (let pause = state % 6; pause > 0; pause--) await new Promise(setImmediate)
    return 'done' as const
  }
}

/** What is said to be there is there, and no room is charged that is not used. */
async function expectWhole(house: RecordsHouse, id: string): Promise<void> {
  const { deployments, catalogs } = house
  const shop = await deployments.get('shop')
  const needed = new Map<string, number>()
  for (const revision of await deployments.revisions(shop, page)) {
    if (revision.state === 'removed') continue
    const missing = new Set(await deployments.missing(revision))
    if (revision.state === 'ready') expect([...missing]).toEqual([])
    const { archives } = await deployments.manifest(revision)
    for (const { sha256: name, bytes } of archives.flatMap(({ chunks }) => chunks)) {
      needed.set(name, bytes)
      if (!missing.has(name)) await deployments.readChunks(id)(name)
    }
  }
  await deployments.collect(shop, nobody)
  const [record] = await catalogs.get({ tenant: '@', collection: 'deployment' }, [id])
  const sum = [...needed.values()].reduce((total, bytes) => total + bytes, 0)
  // Two who upload the same at once may both have brought it.
  expect(record!.heldBytes).toBeGreaterThanOrEqual(sum)
}

describe('callers who race', () => {
  it('begin one revision, whose number nobody else has', async () => {
    for (let seed = 0; seed < 20; seed++) {
      const house = new RecordsHouse()
      const shop = await house.create()
      const same = await Promise.all(
        [1, 2, 3].map((caller) =>
          house.begin(shop, projectOf(1), house.caller(pauses(seed * 3 + caller)))
        ),
      )
      expect(new Set(same.map(({ revision: { name } }) => name))).toEqual(new Set(['r1']))
      expect(same.filter(({ known }) => !known)).toHaveLength(1)
      const others = await Promise.all(
        [2, 3, 4].map((own) =>
          house.begin(shop, projectOf(own), house.caller(pauses(seed * 5 + own)))
        ),
      )
      expect(others.map(({ revision: { name } }) => name).toSorted()).toEqual(['r2', 'r3', 'r4'])
    }
  })

  it('never delete a chunk that a revision has', { timeout: 60_000 }, async () => {
    await expectAlways(
      fc.asyncProperty(fc.array(fc.nat(100_000), { minLength: 4, maxLength: 4 }), async (seeds) => {
        const house = new RecordsHouse()
        const shop = await house.create()
        const [first, half] = [await house.deploy(shop, projectOf(0)),
          (await house.begin(shop, projectOf(9))).revision]
        const callers = seeds.map((seed) => house.caller(pauses(seed)))
        const deploy = async (own: number) => {
          const caller = callers[own]!
          const { revision, missing } = await house.begin(shop, projectOf(own), caller)
          await house.upload(revision, projectOf(own), missing, caller)
          // Whoever checks it looks first.
          if ((await caller.missing(revision)).length === 0) {
            await caller.changeRevision(revision, { state: 'ready', expiresAtMs: null })
          }
        }
        await Promise.allSettled([deploy(1), callers[2]!.removeRevision(shop, first), deploy(3),
          callers[0]!.removeRevision(shop, half),
          house.upload(half, projectOf(9), textsOf(projectOf(9)).map((text) => sha256(text)),
            callers[2])])
        await expectWhole(house, shop.id)
        expect((await house.deployments.revision(shop, 'r1')).state).toBe('removed')
      }),
      { share: 5 },
    )
  })
})

describe('callers who die', () => {
  const fates = ['lost before', 'lost after'] as const
  /** Work that is cut off at each of its calls, until it has no more of them. */
  const cutOff = async (
    work: (house: RecordsHouse,
      fault: { call: number; fate: typeof fates[number] }) => Promise<void>,
  ) => {
    for (const fate of fates) {
      for (let call = 1, isOver = false; !isOver; call++) {
        isOver = await work(new RecordsHouse(), { call, fate }).then(() => true,
          (error: unknown) => {
            if (!(error instanceof Over)) throw error
            return false
          })
        expect(call).toBeLessThan(100)
      }
    }
  }
  /** The work was cut off. */
  class Over extends Error {}
  const died = (error: unknown) => {
    if (error instanceof Dead) return true
    throw error
  }

  it('while they begin a revision leave nothing in the way', async () => {
    await cutOff(async (house, { call, fate }) => {
      const shop = await house.create()
      await house.deploy(shop, projectOf(0))
      const caller = house.caller((each) => each === call ? fate : 'done')
      const wasCut = await house.begin(shop, projectOf(1), caller).then(() => false, died)
      const { revision, missing } = await house.begin(shop, projectOf(1))
      await house.upload(revision, projectOf(1), missing)
      expect(await house.readable(shop, projectOf(1))).toHaveLength(3)
      await expectWhole(house, shop.id)
      expect(await house.deployments.revisions(shop, page)).toHaveLength(2)
      if (wasCut) throw new Over()
    })
  })

  it('while they end a build leave nothing in the way', async () => {
    await cutOff(async (house, { call, fate }) => {
      const shop = await house.create()
      await house.deploy(shop, projectOf(0))
      const begun = await house.deployments.beginBuild(shop, { message: '', by: '' })
      const { manifest } = { manifest: await house.deployments.manifest(
        await house.deployments.revision(shop, 'r1'),
      ) }
      const caller = house.caller((each) => each === call ? fate : 'done')
      const wasCut = await caller.endBuild(shop, begun, manifest).then(() => false, died)
      await house.begin(shop, projectOf(3))
      const built = await house.deployments.revision(shop, 'r2')
      if (built.state === 'building') await house.deployments.endBuild(shop, begun, manifest)
      expect(await house.deployments.revision(shop, 'r2')).toMatchObject({ state: 'uploading' })
      await house.deployments.removeRevision(shop, await house.deployments.revision(shop, 'r1'))
      expect(await house.readable(shop, projectOf(0))).toHaveLength(3)
      await expectWhole(house, shop.id)
      if (wasCut) throw new Over()
    })
  })

  it('while they remove a revision leave it for the next collection', async () => {
    await cutOff(async (house, { call, fate }) => {
      const shop = await house.create()
      const first = await house.deploy(shop, projectOf(0))
      await house.deploy(shop, projectOf(1))
      const caller = house.caller((each) => each === call ? fate : 'done')
      const wasCut = await caller.removeRevision(shop, first).then(() => false, died)
      await expectWhole(house, shop.id)
      if ((await house.deployments.revision(shop, 'r1')).state === 'removed') {
        expect(await house.readable(shop, projectOf(0))).toEqual(['p one', 'p two'])
        const [record] = await house.catalogs.get({ tenant: '@', collection: 'deployment' }, [
          shop.id,
        ])
        expect(record!.heldBytes).toBe(15)
      }
      if (wasCut) throw new Over()
    })
  })

  it('while they remove a deployment leave it to be removed again', async () => {
    await cutOff(async (house, { call, fate }) => {
      const shop = await house.deployments.create({ name: 'shop', tenant: 'acme',
        hosts: ['shop.example.org'] })
      await house.deploy(shop, projectOf(0))
      await house.secrets().seal(shop, new Map([['KEY', 'value']]))
      for (let count = 0; count < 3; count++) {
        await house.deployments.note(shop.id, { kind: 'deployment', by: 'ann', data: {} })
      }
      const caller = house.caller((each) => each === call ? fate : 'done')
      const wasCut = await caller.remove(shop).then(() => false, died)
      if (call > 3) {
        const now = await house.deployments.get('shop').catch(() => undefined)
        expect(now?.removing ?? true).toBe(true)
        if (now)
          await expect(house.begin(shop, projectOf(1))).rejects.toMatchObject({
            code: 'stale',
          })
      }
      await house.deployments.remove(shop)
      expect(await house.left(shop)).toBe(0)
      await house.deployments.create({ name: 'shop', tenant: 'acme', hosts: ['shop.example.org'] })
      if (wasCut) throw new Over()
    })
  })
})

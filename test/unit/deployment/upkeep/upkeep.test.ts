/** What is done to deployments without being asked: previews end, removals go on, revisions go. */

import { expect, it } from 'vitest'

import { deploymentUse, keepDeployments } from '../../../../src/deployment/index.ts'
import type { Deployment, Upkeep } from '../../../../src/deployment/index.ts'
import { HeddleError } from '../../../../src/errors.ts'
import { RecordsHouse } from '../records-house.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** Deployments with data, and a member that keeps them in order. */
class UpkeepHouse extends RecordsHouse {
  /** How much is stored, by namespace. */
  readonly stored = new Map<string, number>()
  readonly use = deploymentUse({ catalogs: this.catalogs, env: this.env })
  readonly collected: string[] = []
  readonly learned: string[] = []
  records: readonly Deployment[] = []
  owns = true
  /** Fails the next removal of data. */
  fails: HeddleError | undefined
  upkeep: Upkeep = this.another()

  another(): Upkeep {
    return keepDeployments({
      deployments: this.deployments,
      known: () => this.records,
      use: this.use,
      data: {
        isEmpty: async () => this.stored.size === 0,
        remove: async (namespace) => {
          if (this.fails !== undefined) throw this.fails
          const found = this.stored.get(namespace) ?? 0
          this.stored.delete(namespace)
          return found
        },
      },
      members: { live: () => ['a', 'b'], learn: async (member, name) => {
        this.learned.push(`${member} ${name}`)
      } },
      retention: async ({ name }) => void this.collected.push(name),
      owns: () => this.owns,
      env: this.env,
    })
  }

  /** Lets time pass, with a look every minute at the end of it. */
  async pass(ms = 0): Promise<void> {
    this.env.advance(ms)
    this.records = await this.deployments.list({ limit: 100, offset: 0 })
    this.upkeep.look()
    for (let turn = 0; turn < 20; turn++) await new Promise((done) => void setImmediate(done))
  }

  async preview(ttlMs = 7 * dayMs): Promise<Deployment> {
    await this.create('shop')
    return await this.deployments.create({ name: 'shop--fix', tenant: 'acme',
      preview: { of: 'shop', label: 'fix', ttlMs } })
  }

  get names(): Promise<readonly string[]> {
    return this.deployments.list({ limit: 100, offset: 0 }).then((all) =>
      all.map(({ name }) => name)
    )
  }
}

it('removes the data of everybody who called, and the record last', async () => {
  const house = new UpkeepHouse()
  const shop = await house.create()
  await house.use.note(shop, 'acme')
  await house.use.note(shop, 'other')
  house.stored.set('acme@shop', 3).set('other@shop', 2).set('acme', 7).set('acme@shop2', 1)
  await house.deployments.change(shop, { removing: true })
  house.upkeep.look('shop')
  await house.pass()
  expect(house.learned).toEqual(['a shop', 'b shop'])
  expect([...house.stored]).toEqual([['acme', 7], ['acme@shop2', 1]])
  // A request that was admitted before all members knew.
  house.stored.set('acme@shop', 1)
  expect(await house.names).toEqual(['shop'])
  await house.pass(9_000)
  expect(await house.names).toEqual(['shop'])
  await house.pass(1_000)
  expect(await house.names).toEqual([])
  expect([...house.stored.keys()]).toEqual(['acme', 'acme@shop2'])
  expect(await house.left(shop)).toBe(0)
  expect(await house.use.namespaces(shop)).toEqual(['acme@shop'])
})

it('goes on with a removal after a failure, and on another member', async () => {
  const house = new UpkeepHouse()
  const shop = await house.create()
  house.stored.set('acme@shop', 3)
  await house.deployments.change(shop, { removing: true })
  house.fails = new HeddleError('unavailable')
  await house.pass(60_000)
  expect([house.stored.size, await house.names]).toEqual([1, ['shop']])
  house.upkeep.close()
  house.fails = undefined
  await house.pass(60_000)
  expect(house.stored.size).toBe(1)
  house.upkeep = house.another()
  await house.pass(60_000)
  expect([house.stored.size, await house.names]).toEqual([0, []])
})

it('removes what no build succeeded for, an hour after the last one', async () => {
  const house = new UpkeepHouse()
  const made = (name: string) =>
    house.deployments.create({ name, tenant: 'acme', provisional: true })
  const refused = async (name: string) => {
    const revision = await house.deployments.beginBuild(await house.deployments.get(name), {
      message: '',
      by: 'test',
    })
    await house.deployments.changeRevision(revision, { state: 'refused', reason: 'No lock file.' })
  }
  await house.create('own')
  const served = await made('served')
  await house.deployments.change(served, { active: 'r1' })
  for (const name of ['empty', 'failed', 'building', 'again']) await made(name)
  for (const name of ['failed', 'again']) await refused(name)
  await house.pass(hourMs - 60_000)
  await refused('again')
  await house.deployments.beginBuild(await house.deployments.get('building'), { message: '',
    by: 'test' })
  await house.pass()
  expect(await house.names).toHaveLength(6)
  await house.pass(60_000)
  // Each removal waits for requests that had begun.
  for (let times = 0; times < 5; times++) await house.pass(10_000)
  expect([...await house.names].sort()).toEqual(['again', 'building', 'own', 'served'])
  await house.pass(hourMs)
  for (let times = 0; times < 3; times++) await house.pass(10_000)
  expect([...await house.names].sort()).toEqual(['building', 'own', 'served'])
})

it('removes nothing that nobody asked for, or that another member owns', async () => {
  const house = new UpkeepHouse()
  await house.create()
  house.stored.set('acme@shop', 3)
  house.upkeep.look('shop')
  await house.pass(60_000)
  expect(house.stored.size).toBe(1)
  house.owns = false
  await house.deployments.change(await house.deployments.get('shop'), { removing: true })
  house.upkeep.look('shop')
  await house.pass(60_000)
  expect([house.stored.size, await house.names]).toEqual([1, ['shop']])
})

it('ends a preview after its time without a request, and never before', async () => {
  const house = new UpkeepHouse()
  const preview = await house.preview()
  house.stored.set('acme@shop--fix', 3)
  await house.pass(6 * dayMs)
  await house.use.note(preview, 'acme')
  await house.pass(7 * dayMs)
  expect(await house.deployments.get('shop--fix')).toMatchObject({ removing: false })
  await house.pass(hourMs)
  expect(await house.deployments.get('shop--fix')).toMatchObject({ removing: true })
  await house.pass(10_000)
  expect(await house.names).toEqual(['shop'])
  expect(house.stored.size).toBe(0)
})

it('writes at most once an hour for a preview, and once for another tenant', async () => {
  const house = new UpkeepHouse()
  const preview = await house.preview()
  const shop = await house.deployments.get('shop')
  let writes = 0
  const create: typeof house.catalogs.create = (...record) => {
    writes++
    return house.catalogs.create(...record)
  }
  const use = deploymentUse({ env: house.env, catalogs: { ...house.catalogs, create } })
  const call = async (deployment: Deployment, tenant: string) => {
    for (let times = 0; times < 100; times++) {
      await use.note(deployment, tenant)
      house.env.advance(60_000)
    }
  }
  await call(preview, 'acme')
  expect(writes).toBe(2)
  await call(shop, 'acme')
  expect(writes).toBe(2)
  await call(shop, 'other')
  expect(writes).toBe(3)
})

it('lets nobody else in whose data no removal would find', async () => {
  const house = new UpkeepHouse()
  const shop = await house.create()
  let isAway = true
  const use = deploymentUse({ env: house.env,
    catalogs: { ...house.catalogs, create: async (...record) => {
      if (isAway) throw new HeddleError('unavailable')
      return await house.catalogs.create(...record)
    } } })
  const [one, other] = [use.note(shop, 'other'), use.note(shop, 'other')]
  await expect(one).rejects.toMatchObject({ code: 'unavailable' })
  await expect(other).rejects.toMatchObject({ code: 'unavailable' })
  isAway = false
  await use.note(shop, 'other')
  expect(await use.namespaces(shop)).toEqual(['acme@shop', 'other@shop'])
})

it('looks for old revisions once a day', async () => {
  const house = new UpkeepHouse()
  await house.create()
  await house.pass(60_000)
  await house.pass(dayMs - 60_000)
  expect(house.collected).toEqual(['shop'])
  await house.pass(60_000)
  expect(house.collected).toEqual(['shop', 'shop'])
})

/** Deployments: made, found, changed in order, with hosts that nobody else has, and removed. */

import { describe, expect, it } from 'vitest'

import { clockAhead } from '../../support/clock-ahead.ts'
import { Dead, RecordsHouse } from './records-house.ts'

const notFound = { code: 'not_found' }
const stale = { code: 'stale' }

describe('a deployment', () => {
  it('is what it was made of, with limits that it did not name', async () => {
    const { deployments } = new RecordsHouse()
    const made = await deployments.create({ name: 'shop', tenant: 'acme', access: 'any',
      hosts: ['Shop.Example.org'], limits: { workers: 3 } })
    expect(made).toMatchObject({ name: 'shop', tenant: 'acme', access: 'any', paused: false,
      hosts: ['shop.example.org'], active: null, next: null, rollout: null, step: 0,
      limits: { workers: 3, memory_mb: 512, concurrency: 100, run_timeout_s: 3_600, body_mb: 25,
        requests: null } })
    expect(await deployments.get('shop')).toEqual(made)
    await expect(deployments.get('other')).rejects.toMatchObject(notFound)
    await expect(deployments.get('host shop.example.org')).rejects.toMatchObject(notFound)
  })

  it.each([['name', { name: 'Shop' }], ['name', { name: '12' }], ['hosts', {
    hosts: ['localhost'],
  }], ['hosts', { hosts: ['127.0.0.1'] }], ['hosts', { hosts: ['a.org', 'A.ORG'] }], ['hosts', {
    hosts: ['a.org:80'],
  }], ['limits', { limits: { workers: 0 } }], ['limits', { limits: { concurrency: 1.5 } }], [
    'limits',
    { limits: { body_mb: 26 } },
  ], ['limits', { limits: { requests: { count: 0, interval_s: 1 } } }], ['limits', {
    limits: { requests: { count: 1, interval_s: 86_401 } },
  }], [
    'preview',
    { preview: { of: 'x', label: 'a.b', ttlMs: 1 } },
  ]])(
    'is refused for its %s: %j',
    async (what, change) => {
      const { deployments } = new RecordsHouse()
      await expect(deployments.create({ name: 'shop', tenant: 'acme', ...change }))
        .rejects.toMatchObject({ code: 'invalid', message: expect.stringMatching(`^${what}: `) })
      expect(await deployments.list({ limit: 10, offset: 0 })).toEqual([])
    },
  )

  it('has a name that no other tenant has', async () => {
    const house = new RecordsHouse()
    await house.create('shop', 'acme')
    await expect(house.create('shop', 'other')).rejects.toMatchObject({ code: 'exists',
      message: expect.stringContaining('belongs to another tenant') })
    // Those of its previews begin so.
    await expect(house.create('shop--fix', 'other')).rejects.toMatchObject({ code: 'exists' })
    await house.create('shop--fix', 'acme')
    await expect(house.create('shop', 'acme')).rejects.toMatchObject({ code: 'exists' })
  })

  it("has a name that stays its tenant's for a while after it is removed", async () => {
    const house = new RecordsHouse({ deployments: 200 })
    const { deployments, env } = house
    await deployments.remove(await house.create('shop', 'acme'))
    expect(await deployments.list({ limit: 10, offset: 0 })).toEqual([])
    for (const name of ['shop', 'shop--fix']) {
      await expect(house.create(name, 'other')).rejects.toMatchObject({ code: 'exists',
        message: expect.stringMatching(/^The name shop was of another tenant/) })
    }
    await deployments.remove(await house.create('shop', 'acme'))
    await clockAhead(env, async () => {
      await deployments.remove(await house.create('other-shop', 'acme'))
      await expect(house.create('shop', 'other')).rejects.toMatchObject({ code: 'exists' })
    })
    await env.advance(31 * 24 * 3_600_000)
    await house.create('shop', 'other')
  })

  it('keeps the newest names of a tenant only', async () => {
    const house = new RecordsHouse({ deployments: 200 })
    for (let n = 1; n <= 22; n++) {
      await house.deployments.remove(await house.create(`d${n}x`, 'acme'))
      await house.env.advance(1)
    }
    await house.create('d2x', 'other')
    await expect(house.create('d3x', 'other')).rejects.toMatchObject({ code: 'exists' })
  })

  it('is listed by name, page by page, of one tenant or of all', async () => {
    const house = new RecordsHouse({ deployments: 200 })
    const names = Array.from({ length: 130 }, (_, index) => `d${1_000 + index}`)
    for (const name of names.toReversed()) await house.create(name)
    await house.deployments.create({ name: 'x', tenant: 'other', hosts: ['x.example.org'] })
    const list = async (query: { tenant?: string; limit: number; offset: number }) =>
      (await house.deployments.list(query)).map(({ name }) => name)
    expect(await list({ tenant: 'acme', limit: 500, offset: 0 })).toEqual(names)
    expect(await list({ tenant: 'acme', limit: 110, offset: 15 })).toEqual(names.slice(15, 125))
    expect(await list({ limit: 500, offset: 128 })).toEqual(['d1128', 'd1129', 'x'])
    expect(await house.deployments.list({ tenant: 'other', limit: 9, offset: 0 }))
      .toMatchObject([{ hosts: ['x.example.org'] }])
  })

  it('is one of twenty', async () => {
    const house = new RecordsHouse()
    for (let count = 0; count < 20; count++) await house.create(`d${count}`)
    await expect(house.create('more')).rejects.toMatchObject({ code: 'full' })
    await house.create('more', 'other')
  })

  it('is not created where its code could call as every user', async () => {
    const house = new RecordsHouse({ posing: ['127.0.0.0/8'] })
    await expect(house.create('shop')).rejects.toMatchObject({ code: 'forbidden',
      message: expect.stringMatching(/--user-proxies includes 127\.0\.0\.0\/8.*--trust-tenants/) })
  })

  it('is of the tenant that was first, where tenants are not trusted', async () => {
    const house = new RecordsHouse({ owners: 'one' })
    const first = await house.create('shop')
    await expect(house.create('desk', 'other')).rejects.toMatchObject({ code: 'forbidden',
      message: expect.stringContaining('--trust-tenants') as string })
    await house.create('more')
    for (const each of [first, await house.deployments.get('more')]) {
      await house.deployments.remove(each)
    }
    // Of two who race, one is first.
    const made = await Promise.allSettled([house.create('a', 'acme'), house.create('b', 'other')])
    expect(made.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    expect(await house.deployments.list({ limit: 9, offset: 0 })).toHaveLength(1)
  })

  it('shows another deployment’s secrets only to their owner', async () => {
    const house = new RecordsHouse()
    await house.create('shop')
    const preview = { of: 'shop', label: 'fix', ttlMs: 1_000 }
    await expect(house.deployments.create({ name: 'a', tenant: 'other', preview }))
      .rejects.toMatchObject(notFound)
    expect(await house.deployments.create({ name: 'a', tenant: 'acme', preview }))
      .toMatchObject({ preview, limits: { workers: 1 } })
  })
})

describe('a change of a deployment', () => {
  it('fails if it was changed since it was read, and says what is active', async () => {
    const house = new RecordsHouse()
    const before = await house.create()
    const after = await house.deployments.change(before, { active: 'r7', previous: null })
    expect(after).toMatchObject({ active: 'r7', step: 1 })
    const late = house.deployments.change(before, { paused: true })
    await expect(late).rejects.toMatchObject({ ...stale, message: expect.stringContaining('r7') })
    expect(await house.deployments.get('shop')).toEqual(after)
  })

  it('leaves limits as they are that it does not name, also those of an older record', async () => {
    const house = new RecordsHouse()
    const made = await house.create()
    await house.catalogs.change({ tenant: '@', collection: 'deployment' }, made.id, {
      bodyJson: JSON.stringify({ limits: { workers: 3, memory_mb: 512 } }),
    })
    const old = await house.deployments.get('shop')
    expect(old.limits).toEqual({ workers: 3, memory_mb: 512, concurrency: 100, run_timeout_s: 3_600,
      body_mb: 25, requests: null })
    const requests = { count: 600, interval_s: 60 }
    await house.deployments.change(old, { limits: { ...old.limits, requests } })
    expect((await house.deployments.get('shop')).limits).toEqual({ ...old.limits, requests })
  })

  it('records the share of runs that it says, and those of langgraph.json otherwise', async () => {
    const house = new RecordsHouse()
    const made = await house.deployments.create({ name: 'shop', tenant: 'acme', record: '10%' })
    expect(made.record).toBe('10%')
    const off = await house.deployments.change(made, { record: 'off' })
    expect((await house.deployments.get('shop')).record).toBe('off')
    for (const record of ['', '10', '101%', '100.5%', 'ALL', '-1%', '1e1%']) {
      await expect(house.deployments.change(off, { record })).rejects
        .toMatchObject({ code: 'invalid', message: expect.stringMatching(/^record: /) as string })
    }
    await house.deployments.change(off, { record: null })
    expect((await house.deployments.get('shop')).record).toBeNull()
  })

  it('does not lose what a newer member has stored', async () => {
    const house = new RecordsHouse()
    const made = await house.create()
    const catalog = { tenant: '@', collection: 'deployment' } as const
    await house.catalogs.change(catalog, made.id, {
      bodyJson: JSON.stringify({ newer: [1], access: 'nobody yet', rollout: 7 }),
    })
    const read = await house.deployments.get('shop')
    expect(read).toMatchObject({ access: 'own', rollout: null })
    await house.deployments.change(read, { paused: true })
    const [record] = await house.catalogs.get(catalog, [made.id])
    expect(JSON.parse(record!.bodyJson)).toMatchObject({ newer: [1], paused: true })
  })

  it('is made by one of two who race', async () => {
    const house = new RecordsHouse()
    const before = await house.create()
    const outcomes = await Promise.allSettled(
      ['r1', 'r2', 'r3'].map((active) =>
        house.caller(() => new Promise(setImmediate)).change(before, { active })
      ),
    )
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })
})

describe('a host', () => {
  it('belongs to one deployment, until that gives it up or is removed', async () => {
    const { deployments } = new RecordsHouse()
    const hosts = ['shop.example.org']
    const one = await deployments.create({ name: 'one', tenant: 'a', hosts })
    const other = await deployments.create({ name: 'other', tenant: 'b' })
    await expect(deployments.create({ name: 'third', tenant: 'b', hosts }))
      .rejects.toMatchObject({ code: 'exists' })
    await expect(deployments.get('third')).rejects.toMatchObject(notFound)
    await expect(deployments.change(other, { hosts })).rejects.toMatchObject({ code: 'exists' })
    expect(await deployments.change(one, { hosts: ['new.example.org'] }))
      .toMatchObject({ hosts: ['new.example.org'] })
    const after = await deployments.change(other, { hosts })
    expect(after).toMatchObject({ hosts })
    await deployments.remove(after)
    await deployments.create({ name: 'third', tenant: 'b', hosts })
  })

  it('is free if whoever claimed it does not want it', async () => {
    const house = new RecordsHouse()
    const idle = await house.create('idle')
    await house.catalogs.create({ tenant: '@', collection: 'deployment' }, { id: 'stray',
      name: 'host shop.example.org', parentId: idle.id, orderMs: 0, metadataJson: '{}',
      bodyJson: '{}' })
    expect((await house.deployments.get('idle')).hosts).toEqual([])
    expect(
      await house.deployments.create({ name: 'shop', tenant: 'acme', hosts: ['shop.example.org'] }),
    ).toMatchObject({ hosts: ['shop.example.org'] })
  })

  it('goes to one of two who race', async () => {
    for (let turn = 0; turn < 10; turn++) {
      const house = new RecordsHouse()
      const hosts = ['a.example.org', 'b.example.org']
      const both = [await house.create('one'), await house.create('other')]
      let seed = turn
      const slow = async () => {
        seed = (seed * 7 + 3) % 11
        for (let pause = seed; pause > 0; pause--) await new Promise(setImmediate)
      }
      const outcomes = await Promise.allSettled(
        both.map((each) => house.caller(slow).change(each, { hosts })),
      )
      const now = await house.deployments.list({ limit: 9, offset: 0 })
      const won = outcomes.flatMap(({ status }, index) =>
        status === 'fulfilled' ? [both[index]!.name] : []
      )
      expect(now.filter((each) => each.hosts.length > 0).map(({ name }) => name)).toEqual(won)
      expect(won).toHaveLength(1)
    }
  })

  it('is not lost to a deployment that was never made whole', async () => {
    for (let call = 1; call < 12; call++) {
      for (const fate of ['lost before', 'lost after'] as const) {
        const house = new RecordsHouse()
        const hosts = ['shop.example.org']
        await house.caller((each) => each === call ? fate : 'done')
          .create({ name: 'dead', tenant: 'a', hosts }).catch((error: unknown) =>
            expect(error).toBeInstanceOf(Dead)
          )
        const dead = await house.deployments.get('dead').catch(() => undefined)
        if (dead !== undefined) await house.deployments.remove(dead)
        expect(await house.deployments.create({ name: 'new', tenant: 'a', hosts }))
          .toMatchObject({ hosts })
      }
    }
  })
})

describe('the name of a deployment', () => {
  it('goes to one of two who race', async () => {
    const house = new RecordsHouse()
    const outcomes = await Promise.allSettled(
      ['a', 'b', 'c'].map((tenant) =>
        house.caller(() => new Promise(setImmediate)).create({ name: 'shop', tenant })
      ),
    )
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })
})

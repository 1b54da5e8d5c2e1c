/** The keys that a front door remembers: how long, how many, and what if the store is away. */

import { describe, expect, it } from 'vitest'

import { keyAdmin } from '../../../src/access/index.ts'
import { KeyCache } from '../../../src/access/key-cache.ts'
import { virtualEnv } from '../../support/env.ts'
import { MemoryKeys } from '../../support/memory-keys.ts'

/** The address of most requests. */
const home = () => '192.0.2.1'

function house() {
  const env = virtualEnv()
  const keys = new MemoryKeys()
  const keyCache = new KeyCache({ keys, env, region: 'us', regions: ['us', 'eu'] })
  const admin = keyAdmin({ table: keys, region: 'us', env })
  const make = (expiresInMs: number | null = null) =>
    admin.create({ tenant: 'acme', role: 'developer', name: '', expiresInMs })
  const kindOf = async (text: string, address = home()) =>
    (await keyCache.find(text, () => address)).kind
  return { env, keys, keyCache, keyAdmin: admin, make, kindOf }
}

/** A well-formed key that does not exist. */
const forged = (number: number, region = 'us') =>
  `hdl_${region}_${number.toString(16).padStart(16, '0')}_${'x'.repeat(43)}`

describe('a key', () => {
  it('is found by its whole text only', async () => {
    const { make, keyCache, kindOf } = house()
    const { key, id } = await make()
    expect(await keyCache.find(key, home)).toMatchObject(
      { kind: 'good', row: { id, tenant: 'acme' } },
    )
    const wrong = [`${key.slice(0, -1)}!`, `${key.slice(0, -1)}${key.endsWith('a') ? 'b' : 'a'}`,
      key.replace('hdl_us', 'hdl_xx'), ` ${key}`, `${key} `, key.slice(0, -1), `${key}a`, '', id,
      key.toUpperCase()]
    for (const text of wrong) expect([text, await kindOf(text)]).toEqual([text, 'bad'])
  })

  it('of another region is recognized as such, without a lookup', async () => {
    const { keyCache, keys } = house()
    expect(await keyCache.find(forged(1, 'eu'), home)).toEqual({ kind: 'elsewhere', region: 'eu' })
    expect(keys.looks).toEqual([])
  })

  it('is looked up once while it is fresh, and again when it is older', async () => {
    const { env, keys, make, kindOf } = house()
    const { key } = await make()
    for (let times = 0; times < 100; times++) await kindOf(key)
    expect(keys.looks).toHaveLength(1)
    env.advance(1_600)
    expect(await kindOf(key)).toBe('good')
    expect(keys.looks).toHaveLength(2)
  })

  it('that is revoked is refused after three seconds at the latest', async () => {
    const { env, keys, make, kindOf, keyAdmin } = house()
    const { key, id } = await make()
    expect(await kindOf(key)).toBe('good')
    await keyAdmin.revoke(id)
    keys.held = new Promise(() => {})
    env.advance(2_999)
    expect(await kindOf(key)).toBe('good')
    const late = house()
    const again = await late.make()
    await late.kindOf(again.key)
    await late.keyAdmin.revoke(again.id)
    late.env.advance(3_000)
    expect(await late.kindOf(again.key)).toBe('bad')
  })

  it('that expires is refused at once', async () => {
    const { env, make, kindOf } = house()
    const { key } = await make(1_000)
    expect(await kindOf(key)).toBe('good')
    env.advance(1_000)
    expect(await kindOf(key)).toBe('bad')
  })

  it('is marked as used once a minute', async () => {
    const { env, keys, make, kindOf } = house()
    const { key } = await make()
    for (let second = 0; second < 130; second += 1) {
      await kindOf(key)
      env.advance(1_000)
    }
    expect(keys.touched).toHaveLength(3)
  })

  it('of a stream is checked again and again until it is revoked', async () => {
    const { env, make, keyCache, keyAdmin } = house()
    const { key, id } = await make()
    const found = await keyCache.find(key, home)
    const heartbeats: boolean[] = []
    const heartbeat = async () => {
      env.advance(1_000)
      heartbeats.push(found.kind === 'good' && found.stillValid())
      await Promise.resolve().then(() => {}).then(() => {})
    }
    for (let times = 0; times < 5; times++) await heartbeat()
    expect(heartbeats).toEqual([true, true, true, true, true])
    await keyAdmin.revoke(id)
    for (let times = 0; times < 4; times++) await heartbeat()
    expect(heartbeats.at(-1)).toBe(false)
  })
})

describe('without a store', () => {
  it('known keys are good for a minute, others are unavailable', async () => {
    const { env, keys, make, kindOf } = house()
    const { key } = await make()
    await kindOf(key)
    keys.isReachable = false
    const unavailable = { code: 'unavailable' }
    await expect(kindOf(forged(7))).rejects.toMatchObject(unavailable)
    for (let second = 0; second < 59; second += 1) {
      env.advance(1_000)
      expect(await kindOf(key)).toBe('good')
    }
    env.advance(1_000)
    await expect(kindOf(key)).rejects.toMatchObject(unavailable)
    keys.isReachable = true
    env.advance(1_000)
    expect(await kindOf(key)).toBe('good')
  })

  it('a known key is looked up at most once a second, and need not wait for that', async () => {
    const { env, keys, make, kindOf } = house()
    const { key } = await make()
    await kindOf(key)
    keys.isReachable = false
    env.advance(10_000)
    keys.looks.length = 0
    for (let times = 0; times < 50; times++) await kindOf(key)
    expect(keys.looks).toHaveLength(1)
    keys.held = new Promise(() => {})
    env.advance(1_000)
    expect(await kindOf(key)).toBe('good')
    expect(keys.looks).toHaveLength(2)
  })

  it('a key that was revoked meanwhile is refused five seconds after it is back', async () => {
    const { env, keys, make, kindOf, keyAdmin } = house()
    const { key, id } = await make()
    await kindOf(key)
    keys.isReachable = false
    env.advance(10_000)
    await kindOf(key)
    keys.isReachable = true
    await keyAdmin.revoke(id)
    env.advance(4_000)
    expect(await kindOf(key)).toBe('bad')
  })
})

describe('a flood of unknown keys', () => {
  it('costs at most one lookup per key in two seconds', async () => {
    const { env, keys, kindOf } = house()
    for (let times = 0; times < 50; times++) expect(await kindOf(forged(1))).toBe('bad')
    expect(keys.looks).toHaveLength(1)
    env.advance(2_000)
    await kindOf(forged(1))
    expect(keys.looks).toHaveLength(2)
  })

  it('does not delay a good new key from another address', async () => {
    const { keys, make, kindOf } = house()
    const { key } = await make()
    const { promise, resolve } = Promise.withResolvers<void>()
    keys.held = promise
    const outcomes: string[] = []
    const flood = Array.from({ length: 5_000 }, async (_, number) =>
      outcomes.push(
        await kindOf(forged(number)).catch((error: { code: string }) => error.code),
      ))
    await new Promise(setImmediate)
    keys.held = Promise.resolve()
    expect(await kindOf(key, '198.51.100.7')).toBe('good')
    expect(new Set(outcomes)).toEqual(new Set(['full']))
    resolve()
    await Promise.all(flood)
    expect(outcomes.filter((each) => each === 'bad')).toHaveLength(8 + 256)
  })

  it('from many addresses does not keep a new address from its turn', async () => {
    const { keys, make, kindOf } = house()
    const { key } = await make()
    const { promise, resolve } = Promise.withResolvers<void>()
    keys.held = promise
    const flood = Array.from({ length: 8_000 },
      (_, number) =>
        kindOf(forged(number), `10.0.0.${number % 40}`).catch((error: { code: string }) =>
          error.code
        ))
    await new Promise(setImmediate)
    const good = kindOf(key, '198.51.100.7')
    let waited = 0
    keys.looks.length = 0
    void good.then(() => {
      waited = keys.looks.length
    })
    resolve()
    expect(await good).toBe('good')
    expect(waited).toBeLessThan(41 * 8)
    expect(new Set(await Promise.all(flood))).toEqual(new Set(['bad', 'full']))
  })

  it('has eight lookups at a time and 256 waiting, and does not affect known keys', async () => {
    const { env, keys, make, kindOf, keyCache } = house()
    const { key } = await make()
    await kindOf(key)
    const { promise, resolve } = Promise.withResolvers<void>()
    keys.held = promise
    keys.looks.length = 0
    const flood = Array.from({ length: 1_000 },
      (_, number) => kindOf(forged(number)).catch((error: { code: string }) => error.code))
    await new Promise(setImmediate)
    expect(keys.looks).toHaveLength(8)
    env.advance(1_600)
    expect(await kindOf(key)).toBe('good')
    expect(keys.looks).toHaveLength(9)
    resolve()
    const outcomes = await Promise.all(flood)
    expect(outcomes.filter((each) => each === 'bad')).toHaveLength(8 + 256)
    expect(outcomes.filter((each) => each === 'full')).toHaveLength(1_000 - 8 - 256)
    expect(keyCache.stats()).toMatchObject({ known: 1, turnedAway: 1_000 - 8 - 256 })
    expect(await kindOf(forged(2_000))).toBe('bad')
  })

  it('is refused all at once if the store does not answer', async () => {
    const { env, keys, kindOf } = house()
    keys.isReachable = false
    const flood = Array.from({ length: 264 },
      (_, number) => kindOf(forged(number)).catch((error: { code: string }) => error.code))
    expect(new Set(await Promise.all(flood))).toEqual(new Set(['unavailable']))
    expect(keys.looks.length).toBeLessThanOrEqual(8)
    env.advance(1_000)
    keys.isReachable = true
    expect(await kindOf(forged(1))).toBe('bad')
  })

  it('does not keep a key good that was revoked while it waited in the queue', async () => {
    const { env, keys, make, kindOf, keyAdmin } = house()
    const { key, id } = await make()
    const { promise, resolve } = Promise.withResolvers<void>()
    keys.held = promise
    const flood = Array.from({ length: 8 }, (_, number) => kindOf(forged(number)))
    const late = kindOf(key)
    await new Promise(setImmediate)
    keys.held = Promise.resolve()
    expect(await kindOf(key, '198.51.100.7')).toBe('good')
    await keyAdmin.revoke(id)
    env.advance(5_000)
    resolve()
    await Promise.all(flood)
    expect(await late).toBe('bad')
  })

  it('is remembered up to a limit, beyond which the oldest are forgotten', async () => {
    const { keyCache, kindOf, make } = house()
    const { key } = await make()
    await kindOf(key)
    for (let number = 0; number < 21_000; number++) await kindOf(forged(number))
    expect(keyCache.stats()).toMatchObject({ known: 1, unknown: 20_000 })
  })
})

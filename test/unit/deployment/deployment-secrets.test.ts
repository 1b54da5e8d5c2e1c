/** Secrets of deployments: versions, limits, values for processes only, and keys that change. */

import { describe, expect, it } from 'vitest'

import { deploymentSecretsOver } from '../../../src/deployment/index.ts'
import { secretsOver, surveySecrets } from '../../../src/platform/index.ts'
import type { SecretsKeys } from '../../../src/platform/index.ts'
import { aDeployment } from '../../support/rollout-records.ts'
import { virtualEnv } from '../../support/env.ts'
import { memoryCatalogs } from '../../support/memory-catalogs.ts'

const [older, newer] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
const id = '00000000-0000-4000-8000-000000000001'

function house(keys: SecretsKeys | undefined = () => [older]) {
  const env = virtualEnv()
  const catalogs = memoryCatalogs(env)
  const over = (own: SecretsKeys | undefined) =>
    deploymentSecretsOver(secretsOver(catalogs, own, env), env)
  const earlier = secretsOver(catalogs, keys, env)
  /** Does what programs before sets do. */
  const set = (name: string, value: string) => earlier.replace(`@${id}`, { name, value })
  return { env, catalogs, over, secrets: over(keys), set }
}

const changeOf = (values: Readonly<Record<string, string | null>>) =>
  new Map(Object.entries(values))

describe('a secret of a deployment', () => {
  it('is listed with its version and time, and revealed to processes', async () => {
    const { env, secrets, set } = house()
    const first = await set('KEY', 'value 1')
    env.advance(5_000)
    await set('OTHER', 'value 2')
    expect(await set('KEY', 'value 3'))
      .toEqual({ name: 'KEY', version: 2, updatedAtMs: first.updatedAtMs + 5_000 })
    expect(await secrets.list(id)).toMatchObject([{ name: 'KEY', version: 2 }, { name: 'OTHER',
      version: 1 }])
    expect(JSON.stringify(await secrets.list(id))).not.toContain('value')
    expect(await secrets.reveal(id)).toEqual({ KEY: 'value 3', OTHER: 'value 2' })
    expect(await secrets.reveal('another')).toEqual({})
  })

  it.each([['1A', 'v'], ['A-B', 'v'], ['', 'v'], ['A'.repeat(101), 'v'], ['A', ''], ['A',
    'x'.repeat(65_537)], ['A', 'ö'.repeat(40_000)], ['A', 'a\0b']])(
      'is refused: %.20s',
      async (name, value) => {
        const { catalogs, env, secrets } = house()
        const change = new Map([['GOOD', 'v'], [name, value]])
        await expect(secrets.seal(aDeployment({ id }), change)).rejects
          .toMatchObject({ code: 'invalid' })
        expect(
          await surveySecrets({ catalogs, env, keys: () => [older] }, { rekey: false,
            tenants: [] }),
        ).toMatchObject({ stored: 0 })
      },
    )

  it('may have 64 KB and a name of 100 characters', async () => {
    const { secrets } = house()
    const long = { ['A'.repeat(100)]: 'x'.repeat(65_536) }
    const entries = await secrets.seal(aDeployment({ id }), changeOf(long))
    expect(await secrets.reveal(id, entries)).toEqual(long)
  })

  it('is named if the server has no key for it', async () => {
    const { secrets, over, set } = house()
    await set('OLD', 'v')
    const kept = await secrets.seal(aDeployment({ id }), changeOf({ KEPT: 'v' }))
    const before = aDeployment({ id, active: 'r1', keptSecrets: kept })
    const other = over(() => [newer])
    expect(await secrets.unopened(before)).toEqual([])
    expect(await other.unopened(before)).toEqual(['KEPT', 'OLD'])
    await expect(other.fixed(before)).rejects.toMatchObject({ code: 'invalid' })
    // One that is replaced need not be opened.
    const entries = await other.seal(before, changeOf({ OLD: 'w', KEPT: 'w' }))
    expect(await other.fixed(before, entries)).toEqual([])
    const after = aDeployment({ id, envVersion: 1, loadedSecrets: { envVersion: 1, entries } })
    expect(await other.unopened(after)).toEqual([])
  })

  it('is not stored without a key', async () => {
    const { over, set } = house()
    const without = over(undefined)
    await expect(without.seal(aDeployment({ id }), changeOf({ KEY: 'v' }))).rejects
      .toThrow('--secrets-key')
    expect(await without.reveal(id)).toEqual({})
    await set('KEY', 'v')
    await expect(without.reveal(id)).rejects.toThrow('--secrets-key')
  })

  it('is seen by the survey of operators, and sealed anew', async () => {
    const { catalogs, env, secrets, over, set } = house()
    const before = await set('KEY', 'v')
    env.advance(1_000)
    const parts = { catalogs, env, keys: () => [newer, older] }
    expect(await surveySecrets(parts, { rekey: true, tenants: [] }))
      .toEqual({ stored: 1, unopened: 0, sealedWithOlder: 0, rekeyed: 1 })
    expect(await over(() => [newer]).reveal(id)).toEqual({ KEY: 'v' })
    expect(await over(() => [newer]).list(id)).toEqual([before])
    await secrets.drop(id)
    expect(await surveySecrets(parts, { rekey: false, tenants: [] })).toMatchObject({ stored: 0 })
  })

  it('of an earlier program has a version as well', async () => {
    const { catalogs, secrets, set } = house()
    await set('KEY', 'v')
    const catalog = { tenant: `@${id}`, collection: 'secret' } as const
    const { records: [record] } = await catalogs.list(catalog, { sortBy: 'name', limit: 1,
      descending: false, offset: 0 })
    const { sealed } = JSON.parse(record!.bodyJson) as { readonly sealed: string }
    await catalogs.delete(catalog, record!.id)
    await catalogs.create(catalog, { ...record!, bodyJson: JSON.stringify({ sealed }) })
    expect(await secrets.list(id)).toMatchObject([{ version: 1, updatedAtMs: record!.createdAtMs }])
    expect(await set('KEY', 'w')).toMatchObject({ version: 2 })
  })
})

describe('the set of a deployment', () => {
  it('counts when its record names it, and its values never change', async () => {
    const { env, secrets, set } = house()
    await set('KEY', 'of an earlier program')
    const legacy = aDeployment({ id, active: 'r1' })
    const first = await secrets.fixed(legacy)
    expect(await secrets.reveal(id, first)).toEqual({ KEY: 'of an earlier program' })
    const loaded = aDeployment({ id, active: 'r1', envVersion: 2,
      loadedSecrets: { envVersion: 2, entries: first } })
    const tried = await secrets.seal(loaded, changeOf({ KEY: 'tried', OTHER: 'new' }))
    expect(tried).toMatchObject([{ name: 'KEY', version: 2 }, { name: 'OTHER', version: 1 }])
    expect(JSON.stringify(tried)).not.toMatch(/tried|new/)
    await secrets.settle(loaded)
    expect(await secrets.reveal(id)).toEqual({ KEY: 'of an earlier program' })
    const after = { ...loaded, envVersion: 3, loadedSecrets: { envVersion: 3, entries: tried } }
    env.advance(2 * 3_600_000)
    await secrets.settle(after)
    // Programs before sets find it, and what nothing names is gone.
    expect(await secrets.reveal(id)).toEqual({ KEY: 'tried', OTHER: 'new' })
    expect(await secrets.list(id)).toMatchObject([{ version: 2 }, { version: 1 }])
    expect(await secrets.reveal(id, tried)).toEqual({ KEY: 'tried', OTHER: 'new' })
    await expect(secrets.reveal(id, first)).rejects.toMatchObject({ code: 'unavailable' })
  })

  it('is that of an earlier program again, if that has changed secrets since', async () => {
    const { secrets, set } = house()
    const entries = await secrets.seal(aDeployment({ id }), changeOf({ KEY: 'one' }))
    const overtaken = aDeployment({ id, active: 'r1', envVersion: 8,
      loadedSecrets: { envVersion: 7, entries } })
    await set('KEY', 'two')
    expect(await secrets.reveal(id, await secrets.fixed(overtaken))).toEqual({ KEY: 'two' })
    await secrets.settle(overtaken)
    expect(await secrets.reveal(id)).toEqual({ KEY: 'two' })
  })

  it('has no more than a hundred, whatever is kept, and is sealed anew and dropped', async () => {
    const { catalogs, env, secrets, over } = house()
    const many = Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`A_${at}`, 'v']))
    await expect(secrets.seal(aDeployment({ id }), changeOf(many))).rejects
      .toMatchObject({ code: 'full' })
    delete many['A_100']
    const entries = await secrets.seal(aDeployment({ id }), changeOf(many))
    const full = aDeployment({ id, keptSecrets: entries })
    await expect(secrets.seal(full, changeOf({ MORE: 'v' }))).rejects.toMatchObject({
      code: 'full',
    })
    await secrets.seal(full, changeOf({ A_1: null, MORE: 'v' }))
    const parts = { catalogs, env, keys: () => [newer, older] }
    expect(await surveySecrets(parts, { rekey: true, tenants: [] })).toMatchObject({ rekeyed: 101 })
    expect(Object.keys(await over(() => [newer]).reveal(id, entries))).toHaveLength(100)
    await secrets.drop(id)
    expect(await surveySecrets(parts, { rekey: false, tenants: [] })).toMatchObject({ stored: 0 })
  })
})

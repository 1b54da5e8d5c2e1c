/** Secrets of deployments: versions, limits, values for processes only, and keys that change. */

import { describe, expect, it } from 'vitest'

import { deploymentSecretsOver } from '../../../src/deployment/index.ts'
import { secretsOver, surveySecrets } from '../../../src/platform/index.ts'
import type { SecretsKeys } from '../../../src/platform/index.ts'
import { virtualEnv } from '../../support/env.ts'
import { memoryCatalogs } from '../../support/memory-catalogs.ts'

const [older, newer] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
const id = '00000000-0000-4000-8000-000000000001'

function house(keys: SecretsKeys | undefined = () => [older]) {
  const env = virtualEnv()
  const catalogs = memoryCatalogs(env)
  const over = (own: SecretsKeys | undefined) =>
    deploymentSecretsOver(secretsOver(catalogs, own, env))
  return { env, catalogs, over, secrets: over(keys) }
}

describe('a secret of a deployment', () => {
  it('is listed with its version and time, and revealed to processes', async () => {
    const { env, secrets } = house()
    const first = await secrets.set(id, 'KEY', 'value 1')
    env.advance(5_000)
    await secrets.set(id, 'OTHER', 'value 2')
    expect(await secrets.set(id, 'KEY', 'value 3'))
      .toEqual({ name: 'KEY', version: 2, updatedAtMs: first.updatedAtMs + 5_000 })
    expect(await secrets.list(id)).toMatchObject([{ name: 'KEY', version: 2 }, { name: 'OTHER',
      version: 1 }])
    expect(JSON.stringify(await secrets.list(id))).not.toContain('value')
    expect(await secrets.reveal(id)).toEqual({ KEY: 'value 3', OTHER: 'value 2' })
    expect(await secrets.reveal('another')).toEqual({})
    await secrets.delete(id, 'KEY')
    await secrets.delete(id, 'KEY')
    expect(await secrets.reveal(id)).toEqual({ OTHER: 'value 2' })
  })

  it.each([['1A', 'v'], ['A-B', 'v'], ['', 'v'], ['A'.repeat(101), 'v'], ['A', ''], ['A',
    'x'.repeat(65_537)], ['A', 'ö'.repeat(40_000)], ['A', 'a\0b']])(
      'is refused: %.20s',
      async (name, value) => {
        const { secrets } = house()
        await expect(secrets.set(id, name, value)).rejects.toMatchObject({ code: 'invalid' })
        expect(await secrets.list(id)).toEqual([])
      },
    )

  it('may have 64 KB and a name of 100 characters, and is one of a hundred', async () => {
    const { secrets } = house()
    const long = 'x'.repeat(65_536)
    await secrets.set(id, 'A'.repeat(100), long)
    for (let count = 1; count < 100; count++) await secrets.set(id, `A_${count}`, 'v')
    await expect(secrets.set(id, 'MORE', 'v')).rejects.toMatchObject({ code: 'full' })
    await secrets.set(id, 'A_1', 'new')
    expect(Object.values(await secrets.reveal(id))).toContain(long)
  })

  it('has another version for each of two who race', async () => {
    const { secrets } = house()
    const set = await Promise.all(['a', 'b', 'c'].map((value) => secrets.set(id, 'KEY', value)))
    expect(set.map(({ version }) => version).toSorted()).toEqual([1, 2, 3])
  })

  it('is named if the server has no key for it', async () => {
    const { secrets, over } = house()
    await secrets.set(id, 'OLD', 'v')
    const other = over(() => [newer])
    expect(await secrets.unopened(id)).toEqual([])
    expect(await other.unopened(id)).toEqual(['OLD'])
    await other.set(id, 'OLD', 'v')
    expect(await other.unopened(id)).toEqual([])
  })

  it('is not stored without a key', async () => {
    const { secrets, over } = house()
    const without = over(undefined)
    await expect(without.set(id, 'KEY', 'v')).rejects.toThrow('--secrets-key')
    expect(await without.reveal(id)).toEqual({})
    await secrets.set(id, 'KEY', 'v')
    await expect(without.reveal(id)).rejects.toThrow('--secrets-key')
  })

  it('is seen by the survey of operators, and sealed anew', async () => {
    const { catalogs, env, secrets, over } = house()
    const before = await secrets.set(id, 'KEY', 'v')
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
    const { catalogs, secrets } = house()
    await secrets.set(id, 'KEY', 'v')
    const catalog = { tenant: `@${id}`, collection: 'secret' } as const
    const { records: [record] } = await catalogs.list(catalog, { sortBy: 'name', limit: 1,
      descending: false, offset: 0 })
    const { sealed } = JSON.parse(record!.bodyJson) as { readonly sealed: string }
    await catalogs.delete(catalog, record!.id)
    await catalogs.create(catalog, { ...record!, bodyJson: JSON.stringify({ sealed }) })
    expect(await secrets.list(id)).toMatchObject([{ version: 1, updatedAtMs: record!.createdAtMs }])
    expect(await secrets.set(id, 'KEY', 'w')).toMatchObject({ version: 2 })
  })
})

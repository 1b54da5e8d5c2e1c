/** Items in graphs: asked of the tenant of the run, in a thread and in a process of its own. */

import { describe, expect, it } from 'vitest'

import type { ItemOperation, ItemResult } from '../../../../src/items/index.ts'
import { useGates } from '../../../support/gate.ts'
import { hostProject, logged, TestHost } from '../project/host-project.ts'

const gate = useGates()

const graphs = `
  export const remember = one(async (_, { store }) => {
    await store.put(['a'], 'k', { n: 1 })
    return (await store.get(['a'], 'k')).value.n
  })
  export const late = one(async ({ url }, { store }) => {
    await fetch(url)
    return store.get(['a'], 'k').then(() => 'got', ({ message }) => message)
  })
  export const refused = one((_, { store }) =>
    store.get(['a'], 'k').catch(({ message }) => message))`

/** A host whose items are what \`answer\` says. */
async function hostWith(answer: (operation: ItemOperation) => ItemResult | Promise<ItemResult>) {
  const test = await TestHost.start(1, await hostProject(graphs))
  const asked: (readonly [tenant: string, operation: ItemOperation])[] = []
  test.host.useItems({ batch: async (tenant, operations) => {
    for (const each of operations) asked.push([tenant, each])
    return Promise.all(operations.map(answer))
  } })
  return { test, asked }
}

const item = { namespace: ['a'], key: 'k', valueJson: '{"n":7}', createdAtMs: 1, updatedAtMs: 2 }
const known = ({ kind }: ItemOperation): ItemResult =>
  kind === 'get' ? { kind, item } : { kind: 'done' }

describe.each([['a thread', {}], ['a process', { apart: true }]])('a run in %s', (_, more) => {
  it('puts and gets items of its tenant', async () => {
    const { test, asked } = await hostWith(known)
    const run = test.run('remember', {}, more)
    expect(await run.end).toMatchObject({ status: 'success' })
    expect(logged(run)).toBe(7)
    expect(asked).toMatchObject([
      ['local', { kind: 'put', namespace: ['a'], key: 'k', valueJson: '{"n":1}' }],
      ['local', { kind: 'get', namespace: ['a'], key: 'k' }],
    ])
  })

  it('learns why an item cannot be had, and continues', async () => {
    const { test } = await hostWith(() => Promise.reject(new Error('the disk is full')))
    const run = test.run('refused', {}, more)
    expect(await run.end).toMatchObject({ status: 'success' })
    expect(logged(run)).toContain('the disk is full')
  })
})

it('A run that was aborted asks nothing any more.', async () => {
  const { test, asked } = await hostWith(known)
  const held = gate()
  const { id } = test.run('late', { url: held.url })
  await held.arrived()
  test.host.abort(id)
  held.open()
  expect(await test.run('remember', {}).end).toMatchObject({ status: 'success' })
  expect(asked).toHaveLength(2)
})

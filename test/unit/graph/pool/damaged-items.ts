/** Items of which some cannot be had, and a graph that asks for both kinds. */

import { expect } from 'vitest'

import type { ItemOperation, ItemResult } from '../../../../src/items/index.ts'
import type { TestHost } from '../project/host-project.ts'

/** `askForItems` puts and gets an item, learns why another one cannot be had, and continues. */
export const itemGraph = `
const askForItems = async ({ store }) => {
  await store.put(['a'], 'k', { n: 1 })
  const { n } = (await store.get(['a'], 'k')).value
  const reason = await store.get(['broken'], 'k').catch(({ message }) => message)
  return [n, reason]
}
export const remember = one((_, config) => askForItems(config))`

/** What it returns. */
export const remembered = [7, expect.stringContaining('the disk is full')] as const

/** What such a run asks, and of which tenant. */
export const askedToRemember = [
  ['local',
    expect.objectContaining({ kind: 'put', namespace: ['a'], key: 'k', valueJson: '{"n":1}' })],
  ['local', expect.objectContaining({ kind: 'get', namespace: ['a'], key: 'k' })],
  ['local', expect.objectContaining({ kind: 'get', namespace: ['broken'], key: 'k' })],
] as const

const item = { namespace: ['a'], key: 'k', valueJson: '{"n":7}', createdAtMs: 1, updatedAtMs: 2 }

async function answer(operation: ItemOperation): Promise<ItemResult> {
  const { kind } = operation
  if (kind !== 'get') return { kind: 'done' }
  if (operation.namespace[0] === 'broken') throw new Error('the disk is full')
  return { kind, item }
}

/** Gives a host these items. Returns what is asked of them from now on. */
export function useDamagedItems({ host }: TestHost): readonly unknown[] {
  const asked: unknown[] = []
  host.useItems({ batch: async (tenant, operations) => {
    for (const each of operations) asked.push([tenant, each])
    return Promise.all(operations.map(answer))
  } })
  return asked
}

/** Versions of assistants: every update makes one, and any can be made active again. */

import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { useServer } from '../support/server.ts'

const server = useServer()

/** Which context a run of the graph `configured` was given. */
async function contextOf(assistantId: string, context?: Record<string, unknown>) {
  const values = await server.client.runs.wait(null, assistantId, { input: { said: {} },
    ...context && { context } })
  return (values as { said: { context: unknown } }).said.context
}

describe('updating an assistant', () => {
  it('makes a new version with what was supplied, without merging', async () => {
    const { assistants } = server.client
    const made = await assistants.create({
      graphId: 'configured',
      context: { model_name: 'a', system_prompt: 'p' },
    })
    const updated = await assistants.update(made.assistant_id, { context: { model_name: 'b' } })
    expect(updated.version).toBe(2)
    expect(updated.context).toEqual({ model_name: 'b' })
    expect(await assistants.get(made.assistant_id)).toEqual(updated)
  })

  it('is what later runs use', async () => {
    const { assistants } = server.client
    const { assistant_id: id } = await assistants.create({
      graphId: 'configured',
      context: { model_name: 'a' },
    })
    expect(await contextOf(id)).toEqual({ model_name: 'a' })
    await assistants.update(id, { context: { model_name: 'b' } })
    expect(await contextOf(id)).toEqual({ model_name: 'b' })
  })

  it('replaces config as a whole, merges metadata, and keeps absent fields', async () => {
    const { assistants } = server.client
    const made = await assistants.create({
      graphId: 'configured',
      name: 'kept',
      description: 'kept too',
      context: { model_name: 'a' },
      config: { tags: ['one'], configurable: { x: 1 } },
      metadata: { team: 'blue', level: 1 },
    })
    const updated = await assistants.update(made.assistant_id, {
      config: { configurable: { y: 2 } },
      metadata: { level: 2 },
    })
    expect(updated).toMatchObject({
      name: 'kept',
      description: 'kept too',
      graph_id: 'configured',
      context: { model_name: 'a' },
      metadata: { team: 'blue', level: 2 },
    })
    expect(updated.config).toEqual({ configurable: { y: 2 } })
  })

  it('may change the graph, but only to one that exists', async () => {
    const { assistants } = server.client
    const { assistant_id: id } = await assistants.create({ graphId: 'echo' })
    expect(await assistants.update(id, { graphId: 'steps' })).toMatchObject({ graph_id: 'steps' })
    await expect(assistants.update(id, { graphId: 'nosuch' }))
      .rejects.toMatchObject({ status: 404 })
    expect(await assistants.get(id)).toMatchObject({ graph_id: 'steps', version: 2 })
  })

  it('is refused with 404 for an unknown assistant', async () => {
    await expect(server.client.assistants.update(randomUUID(), { name: 'x' }))
      .rejects.toMatchObject({ status: 404 })
  })

  it('gives concurrent updates a version each', async () => {
    const { assistants } = server.client
    const { assistant_id: id } = await assistants.create({ graphId: 'echo' })
    const updates = await Promise.all(
      Array.from({ length: 10 }, (_, index) => assistants.update(id, { name: `n${index}` })),
    )
    expect(updates.map(({ version }) => version).sort((a, b) => a - b))
      .toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
    expect((await assistants.get(id)).version).toBe(11)
  })
})

describe('the versions of an assistant', () => {
  it('are listed newest first, each as it was, in pages', async () => {
    const { assistants } = server.client
    const { assistant_id: id } = await assistants.create({
      graphId: 'configured',
      context: { model_name: 'v1' },
    })
    await assistants.update(id, { context: { model_name: 'v2' } })
    await assistants.update(id, { context: { model_name: 'v3' }, metadata: { good: true } })
    const all = await assistants.getVersions(id)
    expect(all.map(({ version, context }) => [version, context])).toEqual([
      [3, { model_name: 'v3' }],
      [2, { model_name: 'v2' }],
      [1, { model_name: 'v1' }],
    ])
    const page = await assistants.getVersions(id, { limit: 1, offset: 1 })
    expect(page.map(({ version }) => version)).toEqual([2])
    const good = await assistants.getVersions(id, { metadata: { good: true } })
    expect(good.map(({ version }) => version)).toEqual([3])
  })
})

describe('making a version the active one', () => {
  it('restores its context, graph, name, description and config', async () => {
    const { assistants } = server.client
    const first = await assistants.create({
      graphId: 'configured',
      name: 'one',
      description: 'first',
      context: { model_name: 'v1' },
      config: { configurable: { x: 1 } },
    })
    const id = first.assistant_id
    await assistants.update(id, {
      graphId: 'echo',
      name: 'two',
      description: 'second',
      context: { model_name: 'v2' },
      config: { configurable: { x: 2 } },
    })
    const latest = await assistants.setLatest(id, 1)
    const { updated_at: _, ...rest } = first
    expect(latest).toMatchObject(rest)
    expect(await assistants.get(id)).toEqual(latest)
  })

  it('is what later runs use', async () => {
    const { assistants } = server.client
    const { assistant_id: id } = await assistants.create({
      graphId: 'configured',
      context: { model_name: 'v1', system_prompt: 'p' },
    })
    await assistants.update(id, { context: { model_name: 'v2' } })
    await assistants.setLatest(id, 1)
    expect(await contextOf(id)).toEqual({ model_name: 'v1', system_prompt: 'p' })
    expect(await contextOf(id, { model_name: 'run' }))
      .toEqual({ model_name: 'run', system_prompt: 'p' })
  })

  it('does not free the numbers of later versions', async () => {
    const { assistants } = server.client
    const { assistant_id: id } = await assistants.create({ graphId: 'echo', name: 'one' })
    await assistants.update(id, { name: 'two' })
    await assistants.setLatest(id, 1)
    expect(await assistants.update(id, { description: 'three' }))
      .toMatchObject({ version: 3, name: 'one', description: 'three' })
  })

  it('is refused with 404 for an unknown version', async () => {
    const { assistants } = server.client
    const { assistant_id: id } = await assistants.create({ graphId: 'echo' })
    await expect(assistants.setLatest(id, 2)).rejects.toMatchObject({ status: 404 })
    await expect(assistants.setLatest(randomUUID(), 1)).rejects.toMatchObject({ status: 404 })
  })
})

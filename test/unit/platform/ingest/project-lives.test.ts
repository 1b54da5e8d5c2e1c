/** Changes of the retention of a project, as the store of spans gets them. */

import { expect, it } from 'vitest'

import { withSpanLives } from '../../../../src/platform/ingest/project-lives.ts'
import type { Project, Projects } from '../../../../src/platform/index.ts'

const daySeconds = 86_400

/** A catalog of one project, and the changes that the store has got. */
function house({ failures = 0 } = {}) {
  let project = { id: 'p', name: 'shop', retentionDays: 14 } as Project
  const lives: number[] = []
  const patch = async (_tenant: string, _id: string, change: Partial<Project>) =>
    project = { ...project, ...change }
  const catalog = { patch, find: async (_: string, { name }: { readonly name: string }) => ({
    projects: [project].filter((each) => each.name === name),
    total: 1,
  }), create: (tenant: string, change: Partial<Project>) => patch(tenant, '', change),
    get: async () => [project] } as unknown as Projects
  let left = failures
  const store = { before: async () => {},
    isRemovedProject: async ({ project: id }: { readonly project: string }) => id === 'deleted',
    changeLife: async (
      { timeToLiveS }: { readonly timeToLiveS: number },
    ) => {
      await store.before()
      if (left-- > 0) throw new Error('The store is away.')
      lives.push(timeToLiveS / daySeconds)
    } }
  return {
    projects: withSpanLives(catalog, { ingest: () => store,
      isBeingRemoved: async (_, id) => id === 'going' }),
    patch,
    store,
    lives,
  }
}

it('changes the life of spans when a project is patched or upserted with another retention',
  async () => {
    const { projects, lives } = house()
    await projects.patch('t', 'p', { retentionDays: 400 })
    await projects.patch('t', 'p', { name: 'other' })
    await projects.create('t', { name: 'other', retentionDays: 14 }, true)
    await projects.create('t', { name: 'other', retentionDays: 400 }, false)
    expect(lives).toEqual([400, 14])
  })

it('does not acknowledge a change that the store did not take', async () => {
  const { projects, lives } = house({ failures: 1 })
  await expect(projects.patch('t', 'p', { retentionDays: 400 })).rejects.toThrow('away')
  await projects.patch('t', 'p', { retentionDays: 400 })
  expect(lives).toEqual([400])
})

it('leaves the store with the last of two changes, whichever comes there first', async () => {
  const { projects, patch, store, lives } = house()
  store.before = async () => {
    store.before = async () => {}
    await patch('t', 'p', { retentionDays: 14 })
  }
  await projects.patch('t', 'p', { retentionDays: 400 })
  expect(lives).toEqual([400, 14])
})

it('rejects the id of a deleted project, unless an upsert changes another project', async () => {
  const { projects, lives } = house()
  for (const upsert of [false, true]) {
    for (const id of ['deleted', 'going']) {
      await expect(projects.create('t', { id, name: 'new' }, upsert)).rejects
        .toMatchObject({ code: 'exists', message: expect.stringContaining('without one') })
    }
  }
  await projects.create('t', { id: 'fresh', name: 'new' }, false)
  await projects.create('t', { id: 'deleted', name: 'new', retentionDays: 400 }, true)
  expect(lives).toEqual([400])
})

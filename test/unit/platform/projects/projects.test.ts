/** Projects over catalogs, and their sessions in requests and answers. */

import { describe, expect, it } from 'vitest'

import { projectsOver } from '../../../../src/platform/records/projects/catalog-projects.ts'
import { projectChanged,
  projectMade } from '../../../../src/platform/records/projects/project-request.ts'
import { sessionJson,
  sessionJsonV2 } from '../../../../src/platform/records/projects/project-shape.ts'
import type { ProjectQuery } from '../../../../src/platform/records/projects/project.ts'
import { tenantId } from '../../../../src/platform/spans/tenant-id.ts'
import { CatalogHouse } from '../catalog/catalog-house.ts'

const dataset = '11111111-1111-4111-8111-111111111111'
const everything: ProjectQuery = { sortBy: 'start_time', descending: true, limit: 100, offset: 0 }

function projects() {
  const house = new CatalogHouse()
  return { house, projects: projectsOver(house.client(), house.env) }
}

describe('projects', () => {
  it('begin where it is said, never later than now, and once', async () => {
    const house = new CatalogHouse()
    const all = projectsOver(house.client(), house.env)
    const nowMs = house.env.nowMs()
    const starts = async (...startsMs: number[]) =>
      (await all.named('t', ['early', 'late'], startsMs)).map(({ startMs }) => startMs)
    expect(await starts(nowMs - 60_000, nowMs + 60_000)).toEqual([nowMs - 60_000, nowMs])
    expect(await starts(1, 1)).toEqual([nowMs - 60_000, nowMs])
  })

  it('are made when they are first named, once', async () => {
    const { house, projects: all } = projects()
    const first = await all.named('t', ['a', 'b', 'a'])
    house.start()
    const again = await projectsOver(house.client(), house.env).named('t', ['b', 'c'])
    expect(first.map(({ name }) => name)).toEqual(['a', 'b', 'a'])
    expect(first[0]).toEqual(first[2])
    expect(again[0]).toEqual(first[1])
    expect(first[0]).toMatchObject({ retentionDays: 14, longLived: false, extraJson: '{}' })
    expect(await all.get('other', [first[0]!.id])).toEqual([])
  })

  it('take a name once, and are found by what they say', async () => {
    const { projects: all } = projects()
    const one = await all.create('t', { name: 'one', extraJson: '{"metadata":{"a":1},"b":2}' },
      false)
    await expect(all.create('t', { name: 'one' }, false)).rejects.toMatchObject({ code: 'exists' })
    const upserted = await all.create('t', { name: 'one', description: 'd', extraJson: '{}' }, true)
    expect(upserted).toMatchObject({ id: one.id, description: 'd', extraJson: one.extraJson })
    await all.create('t', { name: 'two', referenceDatasetId: dataset, startMs: 1 }, false)
    const names = async (query: Partial<ProjectQuery>) =>
      (await all.find('t', { ...everything, ...query })).projects.map(({ name }) => name)
    expect(await names({})).toEqual(['one', 'two'])
    expect(await names({ referenceFree: true })).toEqual(['one'])
    expect(await names({ referenceFree: false })).toEqual(['two'])
    expect(await names({ referenceDatasetIds: [dataset] })).toEqual(['two'])
    expect(await names({ metadataJson: '{"a":1}' })).toEqual(['one'])
    expect(await names({ metadataJson: '{"b":2}' })).toEqual([])
    expect(await names({ after: one })).toEqual(['two'])
    await expect(names({ metadataJson: '{' })).rejects.toMatchObject({ code: 'invalid' })
  })

  it('change, and are gone when they are deleted', async () => {
    const { projects: all } = projects()
    const { id } = await all.create('t', { name: 'one', description: 'd' }, false)
    await all.create('t', { name: 'two' }, false)
    const changed = await all.patch('t', id, { endMs: 5, longLived: true, retentionDays: 400 })
    expect(changed).toMatchObject({ description: 'd', endMs: 5, retentionDays: 400 })
    await expect(all.patch('t', id, { name: 'two' })).rejects.toMatchObject({ code: 'exists' })
    await all.delete('t', id)
    expect(await all.get('t', [id])).toEqual([])
    expect((await all.named('t', ['one']))[0]!.id).not.toBe(id)
    await expect(all.delete('t', id)).rejects.toMatchObject({ code: 'not_found' })
  })
})

describe('a session', () => {
  it('is read from a body; null says nothing', () => {
    expect(
      projectMade({ name: 'n', id: dataset, start_time: '2026-01-01T00:00:00.5Z',
        reference_dataset_id: dataset, extra: null, description: null, end_time: null,
        trace_tier: 'longlived', ...{ num_examples: 3, tenant_id: 'mine' } }),
    ).toEqual({
      name: 'n',
      id: dataset,
      startMs: Date.UTC(2026, 0, 1) + 500,
      referenceDatasetId: dataset,
      longLived: true,
      retentionDays: 400,
      restJson: '{"num_examples":3}',
    })
    expect(projectChanged({ name: null, description: null, extra: null, end_time: null }))
      .toEqual({})
    expect(projectChanged({ name: 'n', description: '', extra: {}, end_time: 5 }))
      .toEqual({ name: 'n', description: '', extraJson: '{}', endMs: 5 })
    expect(() => projectMade({ name: ' ' })).toThrow(/name/)
    expect(() => projectChanged({ end_time: 'soon' })).toThrow(/end_time/)
  })

  it('is answered with what clients need', async () => {
    const { projects: all } = projects()
    const project = await all.create('t', { name: 'n', startMs: 1_000,
      restJson: '{"num_examples":3,"tenant_id":"x"}' }, false)
    const stats = { run_count: 2, total_cost: '0.5', last_run_start_time: 'x', id: 'x' }
    expect(sessionJson('t', project, stats)).toEqual({ id: project.id, tenant_id: tenantId('t'),
      name: 'n', end_time: null, start_time: '1970-01-01T00:00:01.000000+00:00', description: null,
      extra: {}, reference_dataset_id: null, default_dataset_id: null, test_run_number: null,
      trace_tier: 'shortlived', last_run_start_time: 'x', last_run_start_time_live: 'x',
      num_examples: 3, run_count: 2, total_cost: '0.5' })
    expect(
      sessionJsonV2('t', project, { total_cost: '0.5', prompt_cost_details: { audio: '0.1' } }),
    )
      .toMatchObject({ type: 'PROJECT', trace_tier: 'SHORT_LIVED', total_cost: 0.5,
        prompt_cost_details: { audio: 0.1 } })
  })
})

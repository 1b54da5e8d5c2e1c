/** Charts over HTTP: their records, and what they ask for their values. */

import { describe, expect, it } from 'vitest'

import { platformDoor } from './platform-door.ts'
import type { PlatformDoor } from './platform-door.ts'

const gone = '99999999-9999-4999-8999-999999999999'

interface Section {
  readonly id: string
  readonly title: string
  readonly charts: readonly { readonly title: string; readonly data: readonly object[] }[]
}

async function sectionsOf(send: PlatformDoor['send'], body: object = {}) {
  return (await send('POST', '/charts', body)).json['sections'] as readonly Section[]
}

const series = (session: readonly unknown[],
  more: object = {}) => [{ name: 's', metric: 'run_count', filters: { session, filter: 'eq(a, 1)' },
  ...more }]

describe('charts', () => {
  it('are kept in sections, by index', async () => {
    const { send } = await platformDoor()
    const { json: section } = await send('POST', '/charts/section', { title: 'mine', index: 1 })
    const make = async (title: string, more: object = {}) =>
      (await send('POST', '/charts/create', { title, chart_type: 'bar', series: series([]),
        ...more })).json
    const first = await make('second', { section_id: section['id'], index: 2 })
    await make('first', { section_id: section['id'], index: 1 })
    await make('loose')
    expect(first).toMatchObject({ title: 'second', chart_type: 'bar', metadata: null,
      series: [{ id: expect.any(String) as string, name: 's' }] })
    const sections = await sectionsOf(send)
    expect(sections).toMatchObject([
      { title: 'Charts', charts: [{ title: 'loose' }] },
      { title: 'mine', charts: [{ title: 'first' }, { title: 'second' }] },
    ])
    expect((await send('POST', `/charts/section/${sections[0]!.id}`, {})).json)
      .toMatchObject(sections[0]!)
    const path = `/charts/${String(first['id'])}`
    expect((await send('PATCH', path, { title: 'other', series: null })).json)
      .toMatchObject({ title: 'other', index: 2, series: first['series'] })
    expect((await send('POST', path, {})).json).toMatchObject({ title: 'other', data: [] })
    expect((await send('DELETE', path)).status).toBe(204)
    expect((await send('POST', path, {})).status).toBe(404)
    const ofSection = `/charts/section/${String(section['id'])}`
    await send('PATCH', ofSection, { title: 'renamed' })
    expect((await send('POST', ofSection, {})).json)
      .toMatchObject({ title: 'renamed', charts: [{ title: 'first' }] })
    expect((await send('GET', '/charts/section')).json).toMatchObject([{ title: 'renamed' }])
    expect((await send('DELETE', ofSection)).status).toBe(204)
    expect(await sectionsOf(send)).toMatchObject([{ title: 'Charts',
      charts: [{ title: 'loose' }] }])
    for (const wrong of [{ title: 'x' }, { title: 'x', series: [] }, { series: series([]) }]) {
      expect((await send('POST', '/charts/create', wrong)).status).toBe(422)
    }
    const body = { title: 'x', series: series([]), section_id: gone }
    expect((await send('POST', '/charts/create', body)).status).toBe(404)
  })

  it('ask for their values, of projects that exist', async () => {
    const { send, asked } = await platformDoor()
    const id = (await send('POST', '/sessions', { name: 'one' })).json['id']
    const window = { start_time: '2026-01-01T00:00:00Z', end_time: '2026-01-02T00:00:00Z',
      stride: { hours: 1 } }
    const chart = { series: series([id, gone], { group_by: { attribute: 'name' } }),
      common_filters: { filter: 'eq(b, 2)', session: [gone] } }
    const { json } = await send('POST', '/charts/preview', { bucket_info: window, chart })
    expect(json).toEqual({
      data: [{ series_id: '0', value: 1, group: null, timestamp: '2026-01-01T00:00:00' }],
    })
    expect(asked).toMatchObject([{ tenant: 'acme', strideUs: 3_600_000_000,
      fromUs: Date.UTC(2026, 0, 1) * 1_000, toUs: Date.UTC(2026, 0, 2) * 1_000, series: [{
        id: '0',
        metric: 'run_count',
        groupBy: { attribute: 'name', maxGroups: 5 },
        question: { filter: 'and(eq(b, 2), eq(a, 1))', projects: [{ id }] },
      }] }])
    await send('POST', '/charts/create', { title: 'x', ...chart })
    expect((await sectionsOf(send, window))[0]!.charts[0]!.data).toHaveLength(1)
    expect((await sectionsOf(send, { ...window, omit_data: true }))[0]!.charts[0]!.data)
      .toEqual([])
    for (const wrong of [{ ...window, stride: { minutes: 1 } }, { start_time: 5, end_time: 5 }, {
      start_time: 'x',
    }]) {
      expect((await send('POST', '/charts', wrong)).status).toBe(422)
    }
  })

  it('of a project are ready', async () => {
    const { send, asked } = await platformDoor()
    const id = (await send('POST', '/sessions', { name: 'one' })).json['id']
    const { json } = await send('POST', `/sessions/${String(id)}/dashboard`, {})
    const { charts } = json as unknown as Section
    expect(json).toMatchObject({ title: 'one', session_id: id })
    expect(charts.every(({ data }) => data.length > 0)).toBe(true)
    expect(asked).toHaveLength(charts.length)
    expect((await send('POST', `/sessions/${gone}/dashboard`, {})).status).toBe(404)
  })
})

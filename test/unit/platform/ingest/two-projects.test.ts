/** A trace that is sent to two projects, of which each keeps it as long as it wants. */

import { expect, it } from 'vitest'

import { sealBlockAside } from '../../../../src/platform/spans/block.ts'
import { ingestHouse, projectId } from './ingest-house.ts'

const id = '01890000-0000-7000-8000-000000000001'

it.each([1, 2])('has a block for each of two projects if %i requests bring it',
  async (requests) => {
    const house = ingestHouse()
    const run = { id, trace_id: id, dotted_order: `20260101T000000000000Z${id}`, name: 'twice',
      inputs: { q: 1 } }
    const posts = ['first', 'second'].map((session_name) =>
      ({ kind: 'post', run: { ...run, session_name } }) as const
    )
    if (requests === 1) await house.multipart(posts)
    else for (const post of posts) await house.multipart([post])
    const heads = await house.store.heads(await house.store.locate('acme', [id]))
    expect(heads.map(({ project }) => project).toSorted())
      .toEqual(['first', 'second'].map(projectId).toSorted())
    expect(new Set(heads.flatMap(({ blocks }) => blocks)).size).toBe(2)
  })

it('has a block for each of two projects that were created in the same millisecond', async () => {
  const [first, second] = await Promise.all(
    ['0001', '0002'].map((end) =>
      sealBlockAside({ project: `01890000-0000-7000-8000-00000000${end}`, trace: id,
        traceStartUs: 0 }, [{ span: id, kind: 'post', members: {} }])
    ),
  )
  expect(first!.id).not.toBe(second!.id)
})

/** Comments on prompts: how many there may be, and what is left of them. */

import { expect, it } from 'vitest'

import { commentsOver, dropComments } from '../../../../src/platform/evaluate/prompts/comment.ts'
import { CatalogHouse } from '../catalog/catalog-house.ts'

const said = { content: 'c', tenant: 't', by: null, parent: null }
const prompts = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222']
  .map((id) => ({ id, tenant: 't' }))
const page = { limit: 100, offset: 0 }

function open() {
  const catalogs = new CatalogHouse().client()
  return { catalogs,
    comments: commentsOver(catalogs, { nowMs: () => 1, uuid: () => crypto.randomUUID() }) }
}

it('A prompt has so many comments and replies, whatever others have', async () => {
  const { catalogs, comments } = open()
  const [prompt, other] = prompts
  const { id: parent } = await comments.create(prompt!, said)
  const full = commentsOver({ ...catalogs, list: async (...args) => {
    const found = await catalogs.list(...args)
    const isOf = args[1].parentIds?.includes(prompt!.id)
    return { ...found, total: found.total + (isOf ? 999 : 0) }
  } }, { nowMs: () => 1, uuid: () => crypto.randomUUID() })
  for (const each of [said, { ...said, parent }]) {
    await expect(full.create(prompt!, each)).rejects.toMatchObject({ code: 'full' })
  }
  await full.create(other!, said)
})

it('All comments of a prompt are dropped with their replies, and no others', async () => {
  const { catalogs, comments } = open()
  const [prompt, other] = prompts
  const { id: parent } = await comments.create(prompt!, said)
  await Promise.all(
    Array.from({ length: 120 }, () => comments.create(prompt!, { ...said, parent })),
  )
  await comments.create(other!, said)
  expect(await comments.list(prompt!, parent, page)).toMatchObject({ total: 120 })
  expect((await comments.list(prompt!, null, page)).comments).toMatchObject([{ replies: 120 }])
  await dropComments(catalogs, prompt!)
  expect(await comments.list(prompt!, null, page)).toEqual({ comments: [], total: 0 })
  expect(
    await catalogs.list({ tenant: 't', collection: 'comment' }, { ...page, sortBy: 'created',
      descending: false }),
  ).toMatchObject({ total: 1 })
  expect(await comments.list(other!, null, page)).toMatchObject({ total: 1 })
})

/** Answers that would be too long: refused while they are gathered, by what they would show. */

import { describe, expect, it } from 'vitest'

import { viewOf } from './fake-threads.ts'
import { call, openDoor } from './open-door.ts'

const megabyte = 1024 * 1024
const state = JSON.stringify({ long: 'x'.repeat(5 * megabyte), last: 'z' })

async function doorWithStates(count: number) {
  const door = await openDoor()
  for (let n = 0; n < count; n++) {
    const threadId = `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
    door.threads.views.set(threadId, viewOf('local', threadId, {}, state))
  }
  const search = (body: object) =>
    call(door, 'POST', '/threads/search', { limit: 1_000, ...body })
  return { door, search }
}

describe('a search over large states', () => {
  it('is refused with 413 when what it would show is too much, and looks no further', async () => {
    const { door, search } = await doorWithStates(1_000)
    const { status, json } = await search({})
    expect([status, json['message']]).toEqual([413, 'The answer would be longer than 128 MB: ' +
      'ask for a smaller page with "limit".'])
    expect(door.threads.shown).toBe(Math.floor(128 / 5) + 1)
  })

  it('is answered where little of them is shown', async () => {
    const { search } = await doorWithStates(40)
    const extract = { last: 'values.last' }
    const { status, headers, json } = await search({ select: ['thread_id'], extract })
    expect([status, headers.get('x-pagination-total')]).toEqual([200, '40'])
    expect(json).toHaveLength(40)
    expect((json as unknown as object[])[0]).toEqual({
      thread_id: '00000000-0000-4000-8000-000000000000', extracted: { last: 'z' } })
  })

  it('is refused where the same is shown under many names', async () => {
    const { door, search } = await doorWithStates(10)
    const extract = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`n${n}`, 'values']))
    const { status } = await search({ select: ['thread_id'], extract })
    expect([status, door.threads.shown]).toEqual([413, 3])
  })

  it('reads long paths once, not for each thread', async () => {
    const { door, search } = await doorWithStates(0)
    for (let n = 0; n < 1_000; n++) door.threads.views.set(`${n}`, viewOf('local', `${n}`, {}))
    const paths = Array.from({ length: 10 }, (_, n) => [`n${n}`, `values${'['.repeat(494)}`])
    const beganMs = performance.now()
    const { status } = await search({ select: [], extract: Object.fromEntries(paths) })
    expect(status).toBe(200)
    expect(performance.now() - beganMs).toBeLessThan(1_500)
  })
})

/** Notes and marks in `traces.db` after removals: which stay, and which change. */

import { afterEach, beforeEach, expect, it } from 'vitest'

import { noFields } from '../../../../../src/platform/index.ts'
import type { Feedback, SpanPlace, SpanStore } from '../../../../../src/platform/index.ts'
import { aPost, noonUs, requestOf, uuidOf } from '../../../../contract/span-histories.ts'
import { TraceHouse } from './trace-house.ts'

let house: TraceHouse
let store: SpanStore

beforeEach(() => {
  house = new TraceHouse()
})
afterEach(() => house.close())

const feedbackOn = ({ tenant, id: span }: SpanPlace, number: number,
  project: string | null): Feedback => ({ tenant, id: uuidOf(5, number), span, trace: null, project,
    key: 'good', score: number, value: null, createdUs: number, modifiedUs: number,
    bodyJson: '{}' })

it('rejected operations on one span write its note once', async () => {
  store = house.open()
  const place = house.place(1)
  const child = { ...place, id: uuidOf(6, 1) }
  await store.write(requestOf(house.tenant, [aPost(place)]))
  await store.remove(house.tenant, { kind: 'traces', traces: [place] })
  const notes = () => house.execute('SELECT no, at_us FROM gone_id ORDER BY no')
  const reject = () =>
    store.write(
      requestOf(house.tenant, [aPost(place), aPost(child),
        aPost(child, { kind: 'patch', fields: { ...noFields, endUs: noonUs } })]),
    )
  await reject()
  const first = notes()
  expect(first).toHaveLength(2)
  house.env.advance(1_000)
  await reject()
  expect(notes()).toEqual(first)
})

it('feedback of another project waits when its span is rejected in one project', async () => {
  store = house.open()
  const place = house.place(1)
  const child = { ...place, id: uuidOf(6, 1) }
  const other = house.place(1, 1).project
  await store.write(requestOf(house.tenant, [aPost(place)]))
  await store.remove(house.tenant, { kind: 'traces', traces: [place] })
  await store.putFeedback([null, place.project, other]
    .map((project, at) => ({ row: feedbackOn(child, at, project), place: null })))
  await store.write(requestOf(house.tenant, [aPost(child)]))
  expect((await store.listFeedback({ tenant: house.tenant, limit: 9, offset: 0 }))
    .map(({ project }) => project)).toEqual([other])
})

it('the deletion of a project takes its marks from spans of other projects', async () => {
  store = house.open()
  const place = house.place(1)
  const other = house.place(1, 1).project
  await store.write(requestOf(house.tenant, [aPost(place)]))
  await store.putFeedback([null, other]
    .map((project, at) => ({ row: feedbackOn(place, at, project), place })))
  const scores = async () =>
    (await store.heads([place])).flatMap(({ feedback }) => feedback.map(({ score }) => score))
  expect(await scores()).toEqual([0, 1])
  const hour = Math.floor(place.startUs / 3_600_000_000)
  await house.pass(5)
  const rolledUp = async () =>
    (await store.rollUps(house.tenant, place.project, hour, hour + 1)).size
  await store.putRollUp(house.tenant, place.project, hour, Uint8Array.of(1), house.nowUs)
  expect(await rolledUp()).toBe(1)
  await store.remove(house.tenant, { kind: 'project', project: other })
  await house.pass(5)
  expect([await scores(), await rolledUp()]).toEqual([[0], 0])
})

it('a quota that removes old spans notes the arrival of the last of them', async () => {
  store = house.open(house.env, { tenantBytes: 1_000_000 })
  expect(await store.freedUntilMs!(house.tenant)).toBe(0)
  for (let index = 0; index < 8; index += 1) {
    const place = house.place(index)
    const { trace, traceStartUs } = place
    await store.write({ ...requestOf(house.tenant, [
      aPost(place, { block: 1n, arrivedUs: place.startUs + 500_000 }),
    ]), blocks: [{ id: 1n, trace, traceStartUs, data: new Uint8Array(200_000) }] })
  }
  await store.write(requestOf(house.tenant, [
    aPost(house.place(0), { kind: 'patch', arrivedUs: house.nowUs,
      fields: { ...noFields, endUs: noonUs } }),
  ]))
  await house.pass(3)
  const left = await house.idsIn(store)
  expect(left).toContain(house.place(7).id)
  const last = house.place(7 - left.length)
  expect(await store.freedUntilMs!(house.tenant)).toBe((last.startUs + 500_000) / 1_000)
})

it.each(['trace', 'project'] as const)(
  'feedback is refused on a span of a removed %s that a quota deletes first',
  async (kind) => {
    store = house.open()
    const root = house.place(1)
    const child = { ...root, id: uuidOf(6, 1) }
    await store.write(requestOf(house.tenant, [aPost(root), aPost(child)]))
    await store.close()
    // The process ended between the note of the removal and the deletion of the rows.
    const trace = root.trace.replaceAll('-', '')
    house.execute(kind === 'trace'
      ? `INSERT INTO gone_trace SELECT unhex('${trace}'), no, ${house.nowUs}, 1 FROM project`
      : `UPDATE project SET gone_us = ${Number.MAX_SAFE_INTEGER}`)
    store = house.open(house.env, { tenantBytes: 1 })
    await store.deleteFeedbackTokens(house.tenant)
    await house.pass(3)
    expect(house.execute('SELECT count(*) AS count FROM span')).toEqual([{ count: 0 }])
    expect(await store.putFeedback([{ row: feedbackOn(child, 1, null), place: null }]))
      .toEqual([uuidOf(5, 1)])
  },
)

it('feedback of a third project stays there when a span moves from a guessed project', async () => {
  store = house.open()
  const [place, guess, third] = [0, 1, 2].map((project) => house.place(1, project))
  await store.write(requestOf(house.tenant, [{ ...aPost(guess!), isGuess: true }, aPost(third!)]))
  await store.putFeedback(
    [guess!, third!].map((each, at) => ({ place: each, row: feedbackOn(each, at, each.project) })),
  )
  await store.write(requestOf(house.tenant, [aPost(place!)]))
  const scores = async (at: SpanPlace) =>
    (await store.heads([at])).flatMap(({ feedback }) => feedback.map(({ score }) => score))
  expect([await scores(place!), await scores(third!)]).toEqual([[0], [1]])
})

/** The thread as it was when a run began, or went on after its process had ended. */

import { expect, it } from 'vitest'

import { tuplesIn } from '../../../../src/thread/index.ts'
import { settled, ThreadHouse } from '../../../support/thread-house.ts'

async function scene() {
  const house = new ThreadHouse()
  await house.runOnce('x', 'before')
  const before = house.host.executions.length
  const run = house.run({ kwargs: { input: { asked: 'rain' } } })
  await house.client.startRun('t', 'x', run)
  await settled()
  expect(house.host.executions.length).toBe(before + 1)
  const step = async (text: string) => {
    await house.host.step(house.host.only, text)
    return house.host.only.headId
  }
  const end = async () => {
    house.host.end(house.host.only)
    await settled()
  }
  const begin = async () =>
    (await house.client.replayBase('t', 'x', run.runId, { kind: 'begin' })).begin!
  const list = async () =>
    tuplesIn(
      await house.client.replayBase('t', 'x', run.runId, { kind: 'list',
        query: { ns: '', checkpointId: null, before: null, limit: null, filter: null } }),
    )
      .map(({ id }) => id)
  const head = async (checkpointId: string | null = null) =>
    tuplesIn(
      await house.client.replayBase('t', 'x', run.runId, { kind: 'tuple', ns: '', checkpointId }),
    )[0]
  const killed = async () => {
    house.restart()
    await house.client.get('t', 'x')
    await settled()
  }
  return { house, step, end, begin, list, head, killed }
}

it('A run begins with the head and the input that it began with.', async () => {
  const { step, end, begin, list, head } = await scene()
  const written = await step('one')
  await end()
  const { headId, request, starts } = await begin()
  expect([request.input, starts]).toEqual(['{"asked":"rain"}', 1])
  expect([(await head())?.id, await list()]).toEqual([headId, [headId]])
  expect(headId).not.toBe(written)
})

it('What a run wrote in the row of its start is not of its beginning.', async () => {
  const { house } = await scene()
  house.host.end(house.host.only)
  await settled()
  const { headId: base } = house.host.executions.at(-1)!
  const run = house.run({ awaited: true })
  const ended = house.client.startAndWait('t', 'x', run)
  await settled()
  await house.host.step(house.host.only, 'one')
  house.host.end(house.host.only)
  await ended
  await settled()
  const found = await house.client.replayBase('t', 'x', run.runId, { kind: 'list',
    query: { ns: '', checkpointId: null, before: null, limit: null, filter: null } })
  expect(tuplesIn(found).map(({ id }) => id)).toEqual([base])
})

it('A run that went on begins where it did, whatever came later.', async () => {
  const { house, step, end, begin, list, head, killed } = await scene()
  const base = house.host.only.execution.headId
  const kept = await step('one')
  await killed()
  const { headId, request } = house.host.only.execution
  const later = await step('two')
  await end()
  const found = await begin()
  expect([found.headId, found.starts, headId]).toEqual([kept, 2, kept])
  expect({ ...found.request, config: '' }).toEqual({ ...request, config: '' })
  expect(found.request.input).toBe('null')
  expect([(await head())?.id, await list()]).toEqual([kept, [kept, base]])
  expect(await head(later)).toBeUndefined()
})

it('One that had written nothing begins anew, with its input.', async () => {
  const { house, end, begin, head, killed } = await scene()
  const base = house.host.only.execution.headId
  await killed()
  await killed()
  await end()
  const { headId, request, starts } = await begin()
  expect([headId, request.input, starts]).toEqual([base, '{"asked":"rain"}', 3])
  expect((await head())?.id).toBe(base)
})

it('The writes of tasks that were done by then are there, and no later ones.', async () => {
  const { house, step, end, head, killed } = await scene()
  const kept = await step('one')
  const wrote = (taskId: string) =>
    house.host.only.listener.steps({ events: [],
      steps: [{ $case: 'writes',
        value: { ns: '', checkpointId: kept!, taskId,
          writes: [{ channel: 'log', index: 0, value: { json: '"a"', form: 0 } }] } }] })
  await wrote('first')
  await settled()
  await killed()
  await wrote('second')
  await end()
  expect((await head())?.writes.map(({ taskId }) => taskId)).toEqual(['first'])
})

it('A replay of a run gets its untracked values.', async () => {
  const { house, step, begin } = await scene()
  await step('one')
  house.host.end(house.host.only, { untracked: '{"answer":1}' })
  await settled()
  expect((await begin()).untracked).toBe('{"answer":1}')
})

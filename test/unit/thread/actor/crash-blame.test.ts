/** After the death of an owner: who is suspected, who waits, and who loses an attempt. */

import { describe, expect, it } from 'vitest'

import { verdictOn } from '../../../../src/thread/decide/crash-blame.ts'
import { trialMs } from '../../../../src/thread/context/quarantine.ts'
import { settled, ThreadHouse } from '../../../support/thread-house.ts'

/** Threads with a run each, which has finished a superstep and is in the next one. */
async function houseWith(...threads: string[]) {
  const house = new ThreadHouse()
  for (const id of threads) {
    await house.client.startRun('t', id, house.run({ runId: id }))
    await house.host.step(ofThread(house, id)!, 'one')
  }
  await settled()
  return house
}

const ofThread = (house: ThreadHouse, id: string) =>
  [...house.host.running.values()].find(({ execution }) => execution.threadId === id)

const named = (...ids: string[]) => ids.map((id) => ({ tenant: 't', threadId: id, runId: id }))

/** What is executed, by thread: the attempt, with a star if it is apart. */
const executing = (house: ThreadHouse) =>
  Object.fromEntries(
    [...house.host.running.values()].map((
      { execution: { threadId, attempt, apart } },
    ) => [threadId, `${attempt}${apart ? '*' : ''}`]),
  )

async function crash(house: ThreadHouse, marked: string[], threads: readonly string[]) {
  house.restart(named(...marked))
  for (const id of threads) await house.client.get('t', id)
  await settled()
}

const resultOf = async (house: ThreadHouse, id: string) =>
  JSON.parse(await house.client.joinRun('t', id, id)) as Record<string, { error: string }>

describe('after a crash', () => {
  it('innocent runs resume at once and keep their attempt, however often others crash',
    async () => {
      const house = await houseWith('a')
      for (let time = 1; time <= 5; time++) {
        await crash(house, [], ['a'])
        expect(executing(house)).toEqual({ a: '1' })
        await house.host.step(house.host.only, 'more')
        await settled()
      }
    })

  it('a suspect resumes apart when the quarantine opens, and keeps its attempt', async () => {
    const house = await houseWith('a', 'b')
    house.restart(named('b'), { isOpen: false })
    for (const id of ['a', 'b']) await house.client.get('t', id)
    await settled()
    expect(executing(house)).toEqual({ a: '1' })
    expect((await house.client.getRun('t', 'b', 'b')).status).toBe('pending')
    house.quarantine.open()
    await settled()
    expect(executing(house)).toEqual({ a: '1', b: '1*' })
  })

  it('suspects resume one by one, each when the one before has finished a superstep', async () => {
    const house = await houseWith('a', 'b', 'c')
    await crash(house, ['a', 'b', 'c'], ['a', 'b', 'c'])
    const [first] = Object.keys(executing(house))
    expect(Object.keys(executing(house))).toHaveLength(1)
    await house.host.step(ofThread(house, first!)!, 'two')
    await settled()
    expect(Object.keys(executing(house))).toHaveLength(2)
    house.env.advance(trialMs)
    await settled()
    expect(Object.values(executing(house))).toEqual(['1*', '1*', '1*'])
  })

  it('a suspect that is cancelled leaves its place to the next', async () => {
    const house = await houseWith('a', 'b', 'c')
    await crash(house, ['a', 'b', 'c'], ['a', 'b', 'c'])
    const waiting = ['a', 'b', 'c'].filter((id) => !(id in executing(house)))
    await house.client.cancelRun('t', waiting[0]!, waiting[0]!, { action: 'interrupt' })
    house.host.end(house.host.only)
    await settled()
    expect(executing(house)).toEqual({ [waiting[1]!]: '1*' })
  })

  it('a suspect that has finished a superstep is free of blame for the next crash', async () => {
    const house = await houseWith('a')
    await crash(house, ['a'], ['a'])
    await house.host.step(house.host.only, 'two')
    await settled()
    await crash(house, [], ['a'])
    expect(executing(house)).toEqual({ a: '1' })
  })

  it('the process of a suspect that dies counts together with the crash before', async () => {
    const house = await houseWith('a')
    await crash(house, ['a'], ['a'])
    house.host.lose(house.host.only, 'crashed')
    await settled()
    expect(executing(house)).toEqual({ a: '3*' })
    house.host.lose(house.host.only, 'crashed')
    await settled()
    expect(executing(house)).toEqual({})
    expect(await resultOf(house, 'a')).toMatchObject({ __error__: { error: 'WorkerCrashed' } })
  })

  it('a suspect under which the server dies again and again ends with an error', async () => {
    const house = await houseWith('a', 'b')
    await crash(house, ['a', 'b'], ['a', 'b'])
    const [guilty] = Object.keys(executing(house))
    const innocent = guilty === 'a' ? 'b' : 'a'
    // Only one of two suspects is tried, so the other one is not to blame.
    for (let time = 2; time <= 3; time++) {
      expect(executing(house)).toEqual({ [guilty!]: '1*' })
      await crash(house, [], ['a', 'b'])
    }
    expect(await resultOf(house, guilty!)).toMatchObject({ __error__: { error: 'WorkerCrashed' } })
    expect(executing(house)).toEqual({ [innocent]: '1*' })
    house.host.end(house.host.only)
    await settled()
    expect((await house.client.getRun('t', innocent, innocent)).status).toBe('success')
  })

  it('a run whose code was not seen is a suspect when a second owner dies in its superstep',
    async () => {
      const house = await houseWith('a')
      await crash(house, [], ['a'])
      expect(executing(house)).toEqual({ a: '1' })
      await crash(house, [], ['a'])
      expect(executing(house)).toEqual({ a: '1*' })
    })

  it('a suspect that is handed over stays one', async () => {
    const house = await houseWith('a')
    await crash(house, ['a'], ['a'])
    house.host.end(house.host.only, { status: 'drained' })
    await settled()
    await crash(house, [], ['a'])
    expect(executing(house)).toEqual({ a: '1*' })
  })
})

describe('the verdict', () => {
  it('is innocent, suspect or guilty by what is known', () => {
    const kind = (ownerDeaths: number, suspect: boolean, isMarked: boolean) =>
      verdictOn({ ownerDeaths, suspect }, isMarked).kind
    expect(kind(0, false, false)).toBe('innocent')
    expect(kind(0, false, true)).toBe('suspect')
    expect(kind(1, false, false)).toBe('suspect')
    expect(kind(1, true, false)).toBe('suspect')
    expect(kind(2, true, false)).toBe('guilty')
    expect(kind(5, false, true)).toBe('suspect')
  })
})

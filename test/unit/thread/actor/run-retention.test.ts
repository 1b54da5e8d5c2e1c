/** How long the thread of a stateless run stays when the run has ended. */

import { describe, expect, it } from 'vitest'

import { settled, ThreadHouse } from '../../../support/thread-house.ts'

describe('the thread of a stateless run', () => {
  const begun = async (resumable: boolean) => {
    const house = new ThreadHouse()
    const run = house.run({ ifMissing: 'hidden' })
    const plan = { ...run.plan, temporary: true, resumable }
    await house.client.startRun('t', 'x', { ...run, plan })
    return { house, run }
  }

  const ended = async (resumable: boolean) => {
    const { house, run } = await begun(resumable)
    house.host.end(house.host.only)
    await settled()
    const { promise: ended, resolve } = Promise.withResolvers<string>()
    await house.client.followRun('t', 'x', run.runId, { after: null, modes: null }, {
      events: () => {},
      ended: resolve,
    })
    await ended
    await settled()
    return house
  }

  it('is removed once a client has read to the end, even if that came after the run', async () => {
    const house = await ended(false)
    await expect(house.client.get('t', 'x')).rejects.toThrow(/not found/)
  })

  it('stays for a minute if the client may come back, and is then removed', async () => {
    const house = await ended(true)
    expect((await house.client.get('t', 'x')).row.status).toBe('idle')
    house.env.advance(61_000)
    await settled()
    await expect(house.client.get('t', 'x')).rejects.toThrow(/not found/)
  })

  it('stays until the due time that it was made for is settled, also after a crash', async () => {
    const house = new ThreadHouse()
    let [asked, isSettled] = [0, false]
    house.isSettled = async (dueMs) => {
      expect(dueMs).toBe(5)
      if (++asked === 1) throw new Error('away')
      return isSettled
    }
    const { plan, ...run } = house.run({ runId: 'x', ifMissing: 'hidden' })
    await house.client.startRun('t', 'x', { ...run,
      plan: { ...plan, temporary: true, due: { cronId: 'c', dueMs: 5 } } })
    house.host.end(house.host.only)
    await settled()
    for (const life of [1, 2, 3]) {
      house.env.advance(61_000)
      await settled()
      expect(asked).toBeGreaterThanOrEqual(life)
      expect((await house.client.get('t', 'x')).row.status).toBe('idle')
      house.restart()
      await house.client.get('t', 'x')
    }
    isSettled = true
    house.env.advance(61_000)
    await settled()
    await expect(house.client.get('t', 'x')).rejects.toThrow(/not found/)
  })

  it.each(['under way', 'over'])('is removed after a crash while the run was %s', async (when) => {
    const { house } = await begun(false)
    if (when === 'over') house.host.end(house.host.only)
    await settled()
    house.restart()
    // As the server does: it wakes all threads that are busy or hidden.
    expect((await house.client.get('t', 'x')).row.hidden).toBe(true)
    await settled()
    if (when === 'under way') house.host.end(house.host.only)
    await settled()
    house.env.advance(61_000)
    await settled()
    expect(house.log.purged).toHaveLength(1)
    await expect(house.client.get('t', 'x')).rejects.toThrow(/not found/)
  })
})

describe('the thread of a stateless run that asks before it takes a message', () => {
  it.each([false, true])('is deleted, and who waits for the message gets 404 (restart: %s)',
    async (isRestarted) => {
      const house = new ThreadHouse()
      const run = house.run({ ifMissing: 'hidden' })
      await house.client.startRun('t', 'x', { ...run, plan: { ...run.plan, temporary: true } })
      await house.host.step(house.host.only, 'one')
      const message = house.run({ ifMissing: 'reject', plan: { ...run.plan, injects: true },
        kwargs: { input: { messages: [] } } })
      await house.client.startRun('t', 'x', message)
      const joined = house.client.joinRun('t', 'x', message.runId)
      const isRefused = expect(joined).rejects.toMatchObject({ code: 'not_found' })
      house.host.end(house.host.only, { waiting: true, interrupts: '{"t":[{"id":"i"}]}',
        isMidStep: true })
      await settled()
      if (isRestarted) house.restart()
      await house.client.get('t', 'x')
      house.env.advance(61_000)
      await settled()
      await expect(house.client.get('t', 'x')).rejects.toMatchObject({ code: 'not_found' })
      await isRefused
    })
})

describe.each([false, true])('the actor of a thread that is gone (shared log: %s)', (shared) => {
  const memory = async (house: ThreadHouse) => {
    await settled()
    return house.activations.size
  }

  it('leaves the memory with its stateless run, waited for or followed', async () => {
    const house = new ThreadHouse()
    house.log.shared = shared
    for (const id of ['a', 'b', 'c', 'd']) {
      const { plan, ...run } = house.run({ runId: id, ifMissing: 'hidden', awaited: id < 'c' })
      const asked = { ...run, plan: { ...plan, temporary: true } }
      const { promise, resolve } = Promise.withResolvers<unknown>()
      if (id < 'c') resolve((await house.client.startAndWait('t', id, asked)).result())
      else {
        await house.client.startRun('t', id, asked)
        await house.client.followRun('t', id, id, { after: null, modes: null }, { events: () => {},
          ended: resolve })
      }
      expect(await memory(house)).toBe(1)
      house.host.end(house.host.only)
      await promise
      expect(await memory(house)).toBe(0)
    }
  })

  it('leaves it with its run in the background, which can be asked for a minute', async () => {
    const house = new ThreadHouse()
    house.log.shared = shared
    house.expiriesMax = 1
    house.restart()
    for (const id of ['a', 'b']) {
      const { plan, ...run } = house.run({ runId: id, ifMissing: 'hidden' })
      await house.client.startRun('t', id, { ...run, plan: { ...plan, temporary: true } })
      await settled()
      house.host.end(house.host.only)
    }
    // There is room for one that has left, and the other stays as before.
    expect(await memory(house)).toBe(1)
    house.env.advance(50_000)
    expect(await house.client.getRun('t', 'a', 'a')).toMatchObject({ status: 'success' })
    // It leaves again when it has answered.
    expect(await memory(house)).toBe(1)
    house.env.advance(11_000)
    expect(await memory(house)).toBe(0)
    for (const id of ['a', 'b']) {
      await expect(house.client.get('t', id)).rejects.toThrow(/not found/)
    }
  })

  it('leaves it with the thread that is deleted, and does not come with a question', async () => {
    const house = new ThreadHouse()
    house.log.shared = shared
    await house.runOnce('x', 'one')
    expect(await memory(house)).toBe(1)
    await house.client.delete('t', 'x')
    expect(await memory(house)).toBe(0)
    await expect(house.client.get('t', 'y')).rejects.toThrow(/not found/)
    expect(await memory(house)).toBe(0)
  })
})

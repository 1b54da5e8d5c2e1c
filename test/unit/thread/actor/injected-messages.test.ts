/** Messages for a run that executes: each reaches it once and in order, or is a run of its own. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import type { Scripted } from '../../../support/scripted-host.ts'
import { aMessage, aRun, settled, ThreadHouse } from '../../../support/thread-house.ts'
import { ThreadPair } from '../../../support/thread-pair.ts'

const { plan } = aRun('')

const textsIn = (json: string): string[] =>
  (JSON.parse(json) as { id: string }[]).map(({ id }) => id)

/** The messages that an edit adds; undefined for a run. */
function addedBy({ execution: { request } }: Scripted): string[] | undefined {
  return request.kind === 'edit' ? textsIn(request.messages!) : undefined
}

/** The message that a run of its own begins with; undefined for any other execution. */
function begunWith({ execution: { request } }: Scripted): string | undefined {
  if (request.kind !== 'run') return undefined
  const input = JSON.parse(request.input) as { messages?: { id: string }[] } | null
  return input?.messages?.[0]?.id
}

async function executing(house = new ThreadHouse()) {
  await house.startRun('x')
  await settled()
  await house.host.step(house.host.only, 'one')
  await settled()
  return house
}

const statuses = async (house: ThreadHouse) =>
  (await house.client.listRuns({ tenant: 't', threadId: 'x', limit: 9, offset: 0 }))
    .map(({ status }) => status)

describe('a message for a run that executes', () => {
  it('does not stop the run for good while its tenant holds too many inputs', async () => {
    const house = await executing(new ThreadHouse({ inputCharacters: 2_000 }))
    const { runId } = house.host.only.execution
    await house.startRun('x', aMessage('a'))
    const first = house.host.only
    await house.startRun('y', { kwargs: { input: 'y'.repeat(4_000) } })
    house.host.end(first, { status: 'drained' })
    await settled()
    const executed = [...house.host.running.values()].map(({ execution }) => execution)
    expect(executed).toContainEqual(expect.objectContaining({ runId, threadId: 'x' }))
  })

  it('does not extend the time limit of the run', async () => {
    const house = new ThreadHouse()
    await house.startRun('x', { plan: { ...plan, timeoutMs: 60_000 } })
    await house.host.step(house.host.only, 'one')
    const { runId } = house.host.only.execution
    house.env.advance(50_000)
    await house.startRun('x', aMessage('a'))
    house.host.end(house.host.only, { status: 'drained' })
    await settled()
    await house.host.step(house.host.only, 'edit')
    house.host.end(house.host.only, { waiting: true })
    await settled()
    expect(house.host.only.execution.runId).toBe(runId)
    house.env.advance(9_000)
    await settled()
    expect((await house.client.getRun('t', 'x', runId)).status).toBe('running')
    house.env.advance(1_000)
    await settled()
    expect((await house.client.getRun('t', 'x', runId)).status).toBe('timeout')
  })

  it('is added where the run stops, which goes on in the same attempt', async () => {
    const house = await executing()
    const { execution: first } = house.host.only
    await Promise.all([house.startRun('x', aMessage('a')), house.startRun('x', aMessage('b'))])
    expect(house.host.asked).toContain(first.id)
    house.host.end(house.host.only, { status: 'drained' })
    await settled()
    expect(addedBy(house.host.only)).toEqual(['a', 'b'])
    const [newest] = await house.client.listRuns({ tenant: 't', threadId: 'x', limit: 1,
      offset: 0 })
    const joined = house.client.joinRun('t', 'x', newest!.runId)
    // One that comes meanwhile is for the next time.
    await house.startRun('x', aMessage('c'))
    await house.host.step(house.host.only, 'edit')
    house.host.end(house.host.only, { waiting: true })
    await settled()
    const { execution: again } = house.host.only
    expect(again).toMatchObject({ runId: first.runId, attempt: 1, request: { input: 'null' } })
    expect(house.host.asked).toContain(again.id)
    expect(await statuses(house)).toEqual(['pending', 'running'])
    expect(await joined).toBe('{}')
    house.host.end(house.host.only)
    await settled()
    expect(begunWith(house.host.only)).toBe('c')
  })

  it('is cancelled with the runs that wait, but not the run that takes it', async () => {
    const house = await executing()
    const { execution: { runId } } = house.host.only
    const sent = house.run(aMessage('a'))
    await house.client.startRun('t', 'x', sent)
    house.host.end(house.host.only, { status: 'drained' })
    await settled()
    for (const each of [sent.runId, runId]) {
      await house.client.cancelRun('t', 'x', each, { action: 'interrupt', only: 'pending' })
    }
    expect(await statuses(house)).toEqual(['interrupted', 'running'])
  })

  it('is refused if no run executes', async () => {
    const house = new ThreadHouse()
    await house.runOnce('x', 'one')
    await expect(house.startRun('x', aMessage('a'))).rejects.toMatchObject({ code: 'not_found' })
    await house.startRun('x', { afterMs: 1_000 })
    await expect(house.startRun('x', aMessage('a'))).rejects.toMatchObject({ code: 'not_found' })
    await expect(house.startRun('y', aMessage('a'))).rejects.toMatchObject({ code: 'not_found' })
  })

  it('counts as a run that waits, of which there are so many only', async () => {
    const house = new ThreadHouse({ pendingRuns: 2 })
    await house.startRun('x')
    await house.startRun('x', aMessage('a'))
    await house.startRun('x', aMessage('b'))
    await expect(house.startRun('x', aMessage('c'))).rejects.toMatchObject({ code: 'full' })
  })

  it('is a run of its own if it cannot be added, and the run goes on without it', async () => {
    const house = await executing()
    await house.startRun('x', aMessage('a'))
    house.host.end(house.host.only, { status: 'drained' })
    await settled()
    house.host.end(house.host.only, { status: 'error', error: { error: 'E', message: 'no' } })
    await settled()
    const { execution } = house.host.only
    expect([execution.request.kind, house.host.asked.has(execution.id)]).toEqual(['run', false])
    house.host.end(house.host.only)
    await settled()
    expect(begunWith(house.host.only)).toBe('a')
  })

  it('is added to a state that asks, whose question is asked again', async () => {
    const house = await executing()
    const { execution: { runId } } = house.host.only
    await house.startRun('x', aMessage('a'))
    house.host.end(house.host.only, { waiting: true, interrupts: '{"t":[{"id":"i"}]}' })
    await settled()
    expect(addedBy(house.host.only)).toEqual(['a'])
    await house.host.step(house.host.only, 'edit')
    house.host.end(house.host.only, { waiting: true })
    await settled()
    expect(house.host.only.execution).toMatchObject({ runId, request: { input: 'null' } })
  })

  describe('at a question after work that a new checkpoint would repeat', () => {
    async function waiting() {
      const house = await executing()
      const { execution: { runId } } = house.host.only
      await house.startRun('x', aMessage('a'))
      house.host.end(house.host.only, { waiting: true, interrupts: '{"t":[{"id":"i"}]}',
        isMidStep: true })
      await settled()
      return { house, runId }
    }

    it('waits for the resume, while the thread counts as interrupted', async () => {
      const { house, runId } = await waiting()
      expect(house.host.running.size).toBe(0)
      expect((await house.client.getRun('t', 'x', runId)).status).toBe('success')
      expect((await house.client.get('t', 'x')).row.status).toBe('interrupted')
      expect(await statuses(house)).toEqual(['pending', 'success'])
    })

    it('is taken by the run that resumes the thread, also after a restart', async () => {
      const { house } = await waiting()
      house.restart()
      await house.startRun('x', { kwargs: { command: { resume: 1 } }, strategy: 'reject' })
      await settled()
      const { execution } = house.host.only
      expect(execution.request).toMatchObject({ command: '{"resume":1}' })
      expect(house.host.asked).toContain(execution.id)
      house.host.end(house.host.only, { status: 'drained' })
      await settled()
      expect(addedBy(house.host.only)).toEqual(['a'])
    })

    it('is a run of its own once the state is edited so that no question is left', async () => {
      const { house } = await waiting()
      const updated = house.client.updateState('t', 'x', { checkpoint: null,
        update: { values: '{"log":["two"]}', command: null, asNode: null } })
      await settled()
      await house.host.step(house.host.only, 'two')
      house.host.end(house.host.only)
      await updated
      await settled()
      expect(begunWith(house.host.only)).toBe('a')
    })

    it('ends with a new run whose strategy is to interrupt', async () => {
      const { house } = await waiting()
      await house.startRun('x', { strategy: 'interrupt' })
      expect(await statuses(house)).toEqual(['running', 'interrupted', 'success'])
    })

    it('lets the thread sleep, and its history be pruned', async () => {
      const { house } = await waiting()
      await house.client.prune('t', 'x', 'keep_latest')
      await house.activations.close(AbortSignal.timeout(1_000))
      expect(house.host.running.size).toBe(0)
    })
  })

  it('is taken at the next owner of a thread that moves before', async () => {
    const pair = new ThreadPair()
    await pair.client.startRun('t', 'x', aRun('r'))
    await pair.host.step(pair.host.only, 'one')
    await settled()
    await pair.client.startRun('t', 'x', aRun('m', aMessage('a')))
    const { host } = pair
    const handed = pair.handOver()
    await settled()
    host.end(host.only, { status: 'drained' })
    await handed
    await settled()
    expect(pair.host.asked).toContain(pair.host.only.execution.id)
    pair.host.end(pair.host.only, { status: 'drained' })
    await settled()
    expect(addedBy(pair.host.only)).toEqual(['a'])
  })

  it('is neither lost nor added twice, whatever ends meanwhile', async () => {
    const act = fc.constantFrom('inject', 'inject', 'step', 'stop', 'end', 'fail', 'crash')
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 4, maxLength: 14 }), async (acts) => {
        const house = await executing()
        const [sent, taken]: [string[], string[]] = [[], []]
        const note = (texts: readonly string[]) => taken.push(...texts)
        // One that is started again after a crash is noted once.
        const look = async () => {
          await settled()
          for (const scripted of house.host.running.values()) {
            const own = begunWith(scripted)
            if (own !== undefined && !taken.includes(own)) note([own])
          }
        }
        const end = async (isGood: boolean) => {
          const [scripted] = house.host.running.values()
          if (scripted === undefined) return
          const added = addedBy(scripted)
          if (added !== undefined && isGood) {
            await house.host.step(scripted, 'edit')
            note(added)
          }
          const isStop = added === undefined && house.host.asked.has(scripted.execution.id)
          house.host.end(scripted, isGood
            ? isStop ? { status: 'drained' } : {}
            : { status: 'error', error: { error: 'E', message: 'no' } })
          await look()
        }
        for (const each of acts) {
          const [scripted] = house.host.running.values()
          if (each === 'inject') {
            const text = String(sent.length)
            const isTaken = await house.startRun('x', aMessage(text)).then(() => true, () => false)
            if (isTaken) sent.push(text)
          } else if (each === 'step' && scripted && addedBy(scripted) === undefined) {
            await house.host.step(scripted, 'step')
          } else if (each === 'stop' && scripted && house.host.asked.has(scripted.execution.id)) {
            await end(true)
          } else if (each === 'end' && scripted) {
            await end(true)
          } else if (each === 'fail' && scripted) {
            await end(false)
          } else if (each === 'crash') {
            house.restart()
            await house.client.get('t', 'x')
          }
          await look()
        }
        for (let i = 0; i < 40 && house.host.running.size > 0; i++) await end(true)
        expect(taken.toSorted()).toEqual(sent.toSorted())
        expect(await statuses(house)).not.toContain('pending')
      }),
      { numRuns: 25 },
    )
  })
})

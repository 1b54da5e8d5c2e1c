/** Revisions that an interrupt or a run needs count as used, whatever became of the resume. */

import { describe, expect, it } from 'vitest'

import type { StartRun } from '../../../../src/thread/index.ts'
import { revisionUse } from '../../../../src/thread/index.ts'
import { shop } from '../../../support/fake-deployments.ts'
import { settled } from '../../../support/thread-house.ts'
import type { ThreadHouse } from '../../../support/thread-house.ts'
import { answer, asking, twoRevisions, waiting } from '../../../support/two-revisions.ts'

async function useOf(house: ThreadHouse) {
  await settled()
  const { running, waiting: waits } = (await revisionUse(house.tables.threads, shop))!
  return { running: [...running], waiting: [...waits] }
}

/** A thread that waits at a node of r1, while r2 is active. */
async function waitingAtFirst() {
  const parts = await waiting()
  parts.deployed.active = 'r2'
  return parts
}

describe('the revision of an interrupt', () => {
  const isUsed = { running: [], waiting: [['r1', 1]] }

  it('is used while the thread waits', async () => {
    const { house } = await waitingAtFirst()
    expect(await useOf(house)).toEqual(isUsed)
  })

  it('is used after its resume was cancelled', async () => {
    const { house, r1, start } = await waitingAtFirst()
    await start(answer)
    const { runId } = r1.only.execution
    await house.client.cancelRun(shop, 'x', runId, { action: 'interrupt' })
    expect(await useOf(house)).toEqual(isUsed)
    await start(answer)
    expect(r1.only.execution.request).toMatchObject({ command: '{"resume":"yes"}' })
  })

  it('is used after its resume failed', async () => {
    const { house, r1, start } = await waitingAtFirst()
    await start(answer)
    r1.end(r1.only, { status: 'error', error: { error: 'E', message: 'model away' } })
    expect(await useOf(house)).toEqual(isUsed)
  })

  it('is used after the run that raised it was cancelled before its end', async () => {
    const { house, r1, start, deployed } = twoRevisions()
    await start()
    await r1.step(r1.only, 'one')
    await r1.interrupt(r1.only, 'task', 'i')
    const { runId } = r1.only.execution
    await house.client.cancelRun(shop, 'x', runId, { action: 'interrupt' })
    deployed.active = 'r2'
    expect(await useOf(house)).toEqual(isUsed)
    await start({ ...answer, strategy: 'reject' })
    expect(r1.running.size).toBe(1)
  })

  it.each<[string, Partial<StartRun>, boolean]>([['the deployment is paused', answer, true], [
    'its resume is delayed',
    { ...answer, afterMs: 86_400_000 },
    false,
  ]])(
    'is used while %s',
    async (_, run, paused) => {
      const { house, start, deployed } = await waitingAtFirst()
      deployed.change({ paused })
      await start(run)
      expect(await useOf(house)).toEqual(isUsed)
    },
  )
})

describe('the revision of a run', () => {
  it('is used while the run is handed back', async () => {
    const { house, r1, start } = twoRevisions()
    await start()
    await r1.step(r1.only, 'one')
    const closed = house.activations.close(AbortSignal.timeout(1_000))
    await settled()
    r1.end(r1.only, { status: 'drained' })
    await closed
    expect(await useOf(house)).toEqual({ running: [['r1', 1]], waiting: [] })
  })

  it('is used while a delayed run names it', async () => {
    const { house, start } = twoRevisions()
    await start({ afterMs: 86_400_000, plan: { ...house.run().plan, revision: 'r2' } })
    expect(await useOf(house)).toEqual({ running: [['r2', 1]], waiting: [] })
    house.restart()
    await house.client.get(shop, 'x')
    expect(await useOf(house)).toEqual({ running: [['r2', 1]], waiting: [] })
  })

  it('is unused once the thread no longer waits', async () => {
    const { house, r1, start } = await waiting()
    await start(answer)
    await r1.step(r1.only, 'two')
    r1.end(r1.only)
    expect(await useOf(house)).toEqual({ running: [], waiting: [] })
  })

  it('stays used when a resume leads to another interrupt', async () => {
    const { house, r1, start } = await waiting()
    await start(answer)
    await r1.step(r1.only, 'two')
    r1.end(r1.only, asking)
    expect(await useOf(house)).toEqual({ running: [], waiting: [['r1', 1]] })
  })
})

/** How much revisions are used: counted in the index of a store, page by page. */

import { expect, it, onTestFinished } from 'vitest'

import type { ThreadRow } from '../../../../proto/gen/storage/v1/row.ts'
import { HeddleError } from '../../../../src/errors.ts'
import type { ThreadQuery, ThreadSearch } from '../../../../src/search/index.ts'
import { revisionUse } from '../../../../src/thread/index.ts'
import { embeddedPlace } from '../../../contract/embedded-place.ts'
import { aGraph, FakeDeployments, shop } from '../../../support/fake-deployments.ts'
import { ScriptedHost } from '../../../support/scripted-host.ts'
import { aRun } from '../../../support/thread-house.ts'
import { DelayedHouse } from '../../server/delayed-house.ts'

class AskingHost extends ScriptedHost {
  readonly #graphs = [aGraph('agent', 'ask', 'pay', 'pay:card', 'pay:cash')]
  override graphs = () => this.#graphs
  override describe = () => this.#graphs[0]
}

it('Runs that execute and threads that wait are counted by revision, and by node.', async () => {
  const { directory } = embeddedPlace()
  const [deployed, host] = [new FakeDeployments(), new AskingHost()]
  deployed.hosts.set('r1', host).set('r2', host)
  const house = await DelayedHouse.open(directory, 0, deployed)
  onTestFinished(() => house.close())
  const start = async (threadId: string, more: object = {}) => {
    const run = aRun(house.env.uuid7(), more)
    await house.client.startRun(shop, threadId, run)
    const ofThread = [...host.running.values()].find(({ execution }) =>
      execution.runId === run.runId
    )!
    return { ...ofThread, runId: run.runId }
  }
  const waits = async (threadId: string, ...waitsAt: string[]) => {
    const execution = await start(threadId)
    host.end(execution, { waiting: true, waitsAt })
    await house.client.joinRun(shop, threadId, execution.runId)
  }
  await waits('a', 'ask')
  await waits('b', 'ask', 'pay')
  await start('c')
  deployed.active = 'r2'
  await waits('d', 'ask', 'pay:card', 'pay:cash')
  const plan = { ...aRun('').plan, temporary: true }
  await start('e', { ifMissing: 'hidden', plan })
  await start('f')
  const use = await revisionUse(house.store.threads, shop)
  expect(Object.fromEntries(use!.running)).toEqual({ r1: 1, r2: 2 })
  expect(Object.fromEntries(use!.waiting)).toEqual({ r1: 2, r2: 1 })
  expect(use!.waitingAt).toEqual(expect.arrayContaining([
    { revision: 'r1', graphId: 'agent', node: 'ask', threads: 2 },
    { revision: 'r1', graphId: 'agent', node: 'pay', threads: 1 },
    ...['ask', 'pay', 'pay:card', 'pay:cash'].map((node) => ({ revision: 'r2', graphId: 'agent',
      node, threads: 1 })
    ),
  ]))
  expect(use!.waitingAt).toHaveLength(6)
  const other = await revisionUse(house.store.threads, 't@other')
  expect(other).toMatchObject({ waitingAt: [], running: new Map() })
})

it('counts the revision to which a rollback of the run in progress returns', async () => {
  const place = (revision: string) => ({ revision, nodes: ['ask'] })
  const rows = [
    { threadId: 'a', restBefore: { waitingAt: place('r1') }, waitingAt: undefined },
    { threadId: 'b', restBefore: { waitingAt: place('r1') }, waitingAt: place('r1') },
    { threadId: 'c', restBefore: { waitingAt: place('r1') }, waitingAt: place('r2') },
  ].map((row) => ({ ...row, status: 'busy', unfinished: [], metadataJson: '{}' }))
  const use = await revisionUse({
    count: ({ status, hidden }) => Promise.resolve(status === 'busy' && !hidden ? 3 : 0),
    search: ({ status, hidden }) =>
      Promise.resolve({ rows: status === 'busy' && !hidden ? rows as unknown as ThreadRow[] : [],
        total: 3 }),
  }, shop)
  expect(Object.fromEntries(use!.waiting)).toEqual({ r1: 3, r2: 1 })
})

it.each([['starts', ['interrupted', 'busy']], ['ends', ['busy', 'interrupted']]])(
  'counts a thread on which a run %s while the threads are read',
  async (_, [before, after]) => {
    const row = { threadId: 'a', waitingAt: { revision: 'r1', nodes: [] }, unfinished: [],
      metadataJson: '{}' } as unknown as ThreadRow
    let status = before
    const use = await revisionUse({
      count: () => Promise.resolve(1),
      search: async (query) => {
        const isFound = query.status === status && query.hidden !== true
        status = after
        return { rows: isFound ? [row] : [], total: 1 }
      },
    }, shop)
    expect(Object.fromEntries(use!.waiting)).toEqual({ r1: 1 })
  },
)

/** So many threads that wait; a page of more than three is too large. */
function manyWaiting(total: number): ThreadSearch {
  const rows = Array.from({ length: total },
    (_, i) =>
      ({ threadId: String(i).padStart(6, '0'), status: 'interrupted', unfinished: [],
        metadataJson: '{"graph_id":"agent"}',
        waitingAt: { revision: 'r1', nodes: ['ask'] } }) as unknown as ThreadRow)
  return {
    count: ({ status }) => Promise.resolve(status === 'interrupted' ? total : 0),
    search: ({ status, limit, after }: ThreadQuery) => {
      if (status !== 'interrupted') return Promise.resolve({ rows: [], total: 0 })
      if (limit > 8) return Promise.reject(new HeddleError('too_large'))
      const left = rows.filter(({ threadId }) => after === undefined || threadId > after.id)
      return Promise.resolve({ rows: left.slice(0, limit), total })
    },
  }
}

it('Long rows are read in small pages.', async () => {
  const use = await revisionUse(manyWaiting(20), shop)
  expect(use!.waiting.get('r1')).toBe(20)
})

it('Too many threads are not counted.', async () => {
  expect(await revisionUse(manyWaiting(20_001), shop)).toBeUndefined()
})

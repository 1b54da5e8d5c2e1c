/** A thread answers only once what it did, or what it shows, is on disk. */

import { describe, expect, it } from 'vitest'

import { historyText } from '../../../support/history-text.ts'
import { settled, ThreadHouse } from '../../../support/thread-house.ts'

/** A thread with a run that has ended and one that is running; the test can stop the disk. */
class Seen extends ThreadHouse {
  readonly ended = this.run()
  readonly now = this.run({ commandId: 'key' })
  readonly #disk = Promise.withResolvers<void>()

  async begin(): Promise<void> {
    await this.startRun('edited')
    this.host.end(this.host.only)
    await settled()
    await this.client.startRun('t', 'x', this.ended)
    this.host.end(this.host.only)
    await settled()
    await this.client.startRun('t', 'x', this.now)
    await settled()
  }

  /** Keeps everything from now on from the disk, until `go`. */
  hold(): void {
    this.log.gate = this.#disk.promise
  }

  /** Keeps one change of the thread from the disk, but nothing that is written afterwards. */
  holdOneChange(): void {
    this.hold()
    void this.client.patch('t', 'x', { held: true })
    queueMicrotask(() => {
      this.log.gate = Promise.resolve()
    })
  }

  /** A state update of the thread `edited`, which the graph carries out. */
  async edit(id?: string): Promise<unknown> {
    const edited = this.inbound.ask({ kind: 'thread', tenant: 't', id: 'edited' }, { type: 'edit',
      update: { update, checkpoint: null } }, id === undefined ? {} : { id })
    await settled()
    const made = [...this.host.running.values()]
      .find(({ execution }) => execution.threadId === 'edited')
    if (made) await this.host.step(made, 'edited')
    if (made) this.host.end(made)
    return await edited
  }

  go(): void {
    this.#disk.resolve()
  }
}

type Ask = (house: Seen) => Promise<unknown>

const of = { tenant: 't', threadId: 'x', limit: 9, offset: 0 }
const interrupt = { action: 'interrupt' } as const
const update = { values: '{}', command: null, asNode: null }

const changes: Readonly<Record<string, Ask>> = {
  'a create': ({ client }) =>
    client.create('t', { threadId: 'y', metadata: {}, ifExists: 'raise', supersteps: [] }),
  'a patch': ({ client }) => client.patch('t', 'x', { a: 1 }),
  'a start': (house) => house.startRun('x'),
  'a start on a new thread': (house) => house.startRun('y'),
  'a start that was asked for before': async (house) => {
    void house.client.patch('t', 'x', { a: 1 })
    return await house.startRun('x', { commandId: 'key' })
  },
  'a start from a checkpoint': async (house) => {
    const { host, client } = house
    const steps = [...host.running.values()][0]!
    void host.step(steps, 'one')
    const { headId } = steps
    void host.step(steps, 'two')
    await settled()
    return await client.startRun('t', 'x',
      house.run({ kwargs: { input: {}, checkpoint: { checkpoint_id: headId } } }))
  },
  'a cancel': ({ client, now }) => client.cancelRun('t', 'x', now.runId, interrupt),
  'a rollback': ({ client, now }) => client.cancelRun('t', 'x', now.runId, { action: 'rollback' }),
  'a delete of a run': ({ client, ended }) => client.deleteRun('t', 'x', ended.runId),
  'a delete': ({ client }) => client.delete('t', 'x'),
  'a copy': ({ client }) => client.copy('t', 'x'),
  'an edit': (house) => house.edit(),
  'an edit that is repeated': async (house) => {
    const first = house.edit('edit')
    await settled()
    const again = await house.edit('edit')
    expect(again).toBe(await first)
  },
  'a thread with a state': async ({ client, host }) => {
    const edited = client.create('t', { threadId: 'y', metadata: { graph_id: 'agent' },
      ifExists: 'raise', supersteps: [[update]] })
    await settled()
    const edit = [...host.running.values()].find(({ execution }) => execution.threadId === 'y')!
    await host.step(edit, 'edited')
    host.end(edit)
    return await edited
  },
}

const looks: Readonly<Record<string, Ask>> = {
  'the thread': ({ client }) => client.get('t', 'x'),
  'its state': ({ client }) =>
    client.state('t', 'x', { checkpointId: null, checkpointNs: '', subgraphs: false }),
  'its history': ({ client }) =>
    historyText(
      client.history('t', 'x', { checkpointId: null, checkpointNs: '', before: null, limit: 9,
        metadata: null }),
    ),
  'its runs': ({ client }) => client.listRuns(of),
  'a run of it': ({ client, now }) => client.getRun('t', 'x', now.runId),
  'the result of a run': ({ client, ended }) => client.joinRun('t', 'x', ended.runId),
  'a cancel of a run that is over': ({ client, ended }) =>
    client.cancelRun('t', 'x', ended.runId, interrupt),
  'a copy of it': ({ client }) => client.copy('t', 'x'),
}

async function answeredOnceOnDisk(ask: Ask, hold: (house: Seen) => void): Promise<void> {
  const house = new Seen()
  await house.begin()
  hold(house)
  await Promise.resolve()
  let answered = false
  const answer = ask(house).then(() => {
    answered = true
  })
  await settled()
  await settled()
  expect(answered).toBe(false)
  house.go()
  await answer
}

describe('a change is on disk before it is acknowledged:', () => {
  it.each(Object.entries(changes))('%s', async (_, ask) => {
    await answeredOnceOnDisk(ask, (house) => house.hold())
  })
})

describe('an answer waits until all earlier changes are on disk:', () => {
  it.each(Object.entries(looks))('%s', async (_, ask) => {
    await answeredOnceOnDisk(ask, (house) => house.holdOneChange())
  })
})

/** Threads with times to live, compared with a model over calls, time and restarts. */

import fc from 'fast-check'
import { expect, it } from 'vitest'

import { expectAlways } from '../../../support/expect-always.ts'
import { settled, ThreadHouse } from '../../../support/thread-house.ts'

const minuteMs = 60_000

/** As the pages say it: no code of the product is used. */
interface ModelThread {
  endsAtMs: number | undefined
  busy: boolean
  /** The last change. */
  changedAtMs: number
}

class Model {
  readonly threads = new Map<string, ModelThread>()
  nowMs: number

  constructor(nowMs: number) {
    this.nowMs = nowMs
  }

  /** The thread, unless its time has ended. */
  find(id: string): ModelThread | undefined {
    const thread = this.threads.get(id)
    if (!thread || thread.busy || thread.endsAtMs === undefined) return thread
    const outlasted = thread.changedAtMs > thread.endsAtMs
    const endMs = outlasted ? thread.changedAtMs + minuteMs : thread.endsAtMs
    if (endMs > this.nowMs) return thread
    this.threads.delete(id)
    return undefined
  }

  ends(minutes: number | undefined): number | undefined {
    return minutes === undefined ? undefined : this.nowMs + minutes * minuteMs
  }
}

const ids = ['x', 'y']
const id = fc.constantFrom(...ids)
const minutes = fc.constantFrom(undefined, 1, 2, 5)
const step = fc.oneof(
  fc.record({ kind: fc.constant('create' as const), id, minutes }),
  fc.record({ kind: fc.constant('patch' as const), id, minutes }),
  fc.record({ kind: fc.constant('run' as const), id }),
  fc.record({ kind: fc.constant('end' as const) }),
  fc.record({ kind: fc.constant('delete' as const), id }),
  fc.record({ kind: fc.constant('restart' as const) }),
  { weight: 4,
    arbitrary: fc.record({ kind: fc.constant('pass' as const),
      ms: fc.constantFrom(1, 20_000, 59_999, minuteMs, 3 * minuteMs) }) },
)
type Step = typeof step extends fc.Arbitrary<infer Each> ? Each : never

async function take(house: ThreadHouse, model: Model, each: Step): Promise<void> {
  const { client } = house
  const options = 'minutes' in each && each.minutes !== undefined
    ? { strategy: 'delete', minutes: each.minutes } as const
    : undefined
  const thread = 'id' in each ? model.find(each.id) : undefined
  const expectedly = async (done: Promise<unknown>, isDone: boolean) => {
    const code = await done.then(() => 'done', (error: { code: string }) => error.code)
    expect([each, code === 'done']).toEqual([each, isDone])
    await settled()
  }
  switch (each.kind) {
    case 'create':
      await expectedly(
        client.create('t', { threadId: each.id, metadata: {}, ifExists: 'raise', supersteps: [],
          ...options && { timeToLive: options } }),
        thread === undefined,
      )
      if (!thread) {
        model.threads.set(each.id, { endsAtMs: model.ends(each.minutes), busy: false,
          changedAtMs: model.nowMs })
      }
      return
    case 'patch':
      await expectedly(client.patch('t', each.id, {}, options), thread !== undefined)
      if (thread) thread.changedAtMs = model.nowMs
      if (thread && options) thread.endsAtMs = model.ends(each.minutes)
      return
    case 'run':
      if (thread?.busy) return
      await expectedly(house.startRun(each.id, { ifMissing: 'reject' }), thread !== undefined)
      if (thread) Object.assign(thread, { busy: true, changedAtMs: model.nowMs })
      return
    case 'end':
      for (const execution of house.host.running.values()) house.host.end(execution)
      await settled()
      for (const other of model.threads.values()) {
        if (other.busy) Object.assign(other, { busy: false, changedAtMs: model.nowMs })
      }
      return
    case 'delete':
      await expectedly(client.delete('t', each.id), thread !== undefined)
      model.threads.delete(each.id)
      return
    case 'restart':
      if ([...model.threads.values()].some(({ busy }) => busy)) return
      house.restart()
      house.dueWakes!.note(0)
      return
    case 'pass':
      house.env.advance(each.ms)
      model.nowMs += each.ms
      for (let n = 0; n < 3; n++) await settled()
  }
}

it('A thread is found, read and changed exactly while its time has not ended.', async () => {
  await expectAlways(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      const house = new ThreadHouse()
      const model = new Model(house.env.nowMs())
      for (const each of steps) {
        await take(house, model, each)
        const there = ids.filter((one) => model.find(one))
        const read = await Promise.all(
          ids.map((one) => house.client.get('t', one).then(() => true, () => false)),
        )
        expect(ids.filter((_, i) => read[i])).toEqual(there)
        expect(await house.client.count({ tenant: 't' })).toBe(there.length)
      }
    }),
    { share: 5 },
  )
})

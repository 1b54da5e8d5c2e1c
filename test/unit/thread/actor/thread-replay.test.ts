/** Whatever happens to a thread: who reads its past gets what those who were there got. */

import fc from 'fast-check'
import { expect, it } from 'vitest'

import type { ThreadEvent } from '../../../../src/thread/index.ts'
import { expectAlways } from '../../../support/expect-always.ts'
import { threadMark, threadToken } from '../../../support/scripted-host.ts'
import { settled, ThreadHouse } from '../../../support/thread-house.ts'
import { readThread } from '../../../support/thread-reader.ts'
import type { ThreadReader } from '../../../support/thread-reader.ts'

/**
 * Starts a run, which wants events of the thread or not; lets it do a superstep, say a token, or
 * end; cancels it; kills the owner; sends the reader away and back; waits; turns the clock.
 */
type Act =
  | { readonly do: 'start'; readonly wants: boolean; readonly awaited: boolean;
    readonly strategy: 'enqueue' | 'interrupt' | 'rollback' }
  | { readonly do: 'step' | 'say'; readonly tokens: number }
  | { readonly do: 'end'; readonly how: 'success' | 'waiting' | 'error' }
  | { readonly do: 'cancel'; readonly action: 'interrupt' | 'rollback' }
  | { readonly do: 'kill' | 'return' | 'settle' | 'patch' }
  | { readonly do: 'clock'; readonly aheadMs: number }

const act: fc.Arbitrary<Act> = fc.oneof(
  fc.record({ do: fc.constant('start' as const), wants: fc.boolean(), awaited: fc.boolean(),
    strategy: fc.constantFrom('enqueue' as const, 'interrupt' as const, 'rollback' as const) }),
  {
    arbitrary: fc.record({ do: fc.constantFrom('step' as const, 'say' as const),
      tokens: fc.integer({ min: 0, max: 3 }) }),
    weight: 4,
  },
  fc.record({ do: fc.constant('end' as const),
    how: fc.constantFrom('success' as const, 'waiting' as const, 'error' as const) }),
  fc.record({ do: fc.constant('cancel' as const),
    action: fc.constantFrom('interrupt' as const, 'rollback' as const) }),
  fc.record({
    do: fc.constantFrom('kill' as const, 'return' as const, 'settle' as const, 'patch' as const),
  }),
  fc.record({ do: fc.constant('clock' as const),
    aheadMs: fc.integer({ min: -5_000, max: 5_000 }) }),
)

/** One thread, and one reader that is there from the start, over all owners. */
class World {
  readonly house = new ThreadHouse()
  readonly seen: ThreadEvent[] = []
  #reader!: ThreadReader
  #said = 0
  /** How far the clock of the member is ahead. */
  #aheadMs = 0

  async begin(): Promise<void> {
    const nowMs = this.house.env.nowMs.bind(this.house.env)
    Object.assign(this.house.env, { nowMs: () => nowMs() + this.#aheadMs })
    await this.house.startRun('x')
    await this.comeBack()
  }

  async comeBack(): Promise<void> {
    this.leave()
    this.#reader = await readThread(this.house.client, 'x', this.seen.at(-1)?.seq ?? null)
  }

  leave(): void {
    this.seen.push(...this.#reader?.all.splice(0) ?? [])
    this.#reader?.stop()
  }

  async do(act: Act): Promise<void> {
    const { house } = this
    const [running] = house.host.running.values()
    switch (act.do) {
      case 'start':
        await house.startRun('x', { strategy: act.strategy, awaited: act.awaited,
          plan: { ...house.run().plan, threadEvents: act.wants } })
        return
      case 'step':
        if (!running) return
        return void house.host.step(running, 'text',
          (id) =>
            'threadEvents' in running.execution.request
              ? [...this.#tokens(act.tokens), threadMark(id), ...this.#tokens(act.tokens)]
              : [])
      case 'say':
        if (!running || !('threadEvents' in running.execution.request)) return
        return void running.listener.steps({ steps: [], events: this.#tokens(act.tokens) })
      case 'end':
        if (running) this.#end(running, act.how)
        return
      case 'cancel':
        if (!running) return
        return await house.client.cancelRun('t', 'x', running.execution.runId, act)
      case 'kill':
        await settled()
        this.leave()
        house.restart()
        return await this.comeBack()
      case 'return':
        return await this.comeBack()
      case 'patch':
        return void await house.client.patch('t', 'x', { n: ++this.#said })
      case 'settle':
        return await settled()
      case 'clock':
        this.#aheadMs = act.aheadMs
        return
    }
  }

  #end(running: Parameters<ThreadHouse['host']['end']>[0], how: string): void {
    const error = how === 'error' ? { error: 'E', message: 'no' } : null
    this.house.host.end(running, { status: error ? 'error' : 'success', error,
      waiting: how === 'waiting',
      interrupts: how === 'waiting' ? '{"t":[{"id":"i","value":1}]}' : '{}' })
  }

  #tokens(count: number) {
    return Array.from({ length: count }, () => threadToken(String(++this.#said)))
  }
}

/** Tokens are kept in memory only, and the states of runs that were rolled back are gone. */
function isKept({ method }: ThreadEvent): boolean {
  return method !== 'messages' && method !== 'values'
}

/** The name of the graph is gone with a run that was rolled back. */
function nameless(event: ThreadEvent): ThreadEvent {
  return { ...event, data: event.data.replace(',"graph_name":"agent"', '') }
}

it('The past of a thread is what its followers got.', async () => {
  await expectAlways(
    fc.asyncProperty(fc.array(act, { maxLength: 30 }), async (acts) => {
      const world = new World()
      await world.begin()
      for (const each of acts) await world.do(each)
      await settled()
      world.leave()
      const { seen, house } = world
      const seqs = seen.map(({ seq }) => seq)
      expect(seqs).toEqual(seqs.toSorted((a, b) => a - b))
      expect(new Set(seen.map(({ id }) => id)).size).toBe(seen.length)
      const states = seen.flatMap(({ method, data }) =>
        method === 'checkpoints' ? (JSON.parse(data) as { id: string }).id : []
      )
      expect(new Set(states).size).toBe(states.length)
      // No record has the time of a token, so a clock that goes back may show an earlier one next.
      const times = seen.filter(({ method }) => method !== 'messages')
        .map(({ timestampMs }) => timestampMs)
      expect(times).toEqual(times.toSorted((a, b) => a - b))

      const present = await readThread(house.client, 'x')
      await settled()
      const from = present.all[0]?.seq ?? Infinity
      const later = seen.filter(({ seq }) => seq >= from)
      expect(present.all.filter(isKept).map(nameless)).toEqual(later.filter(isKept).map(nameless))
      expect(later.map(({ id }) => id)).toEqual(expect.arrayContaining(present.ids))
      expect(present.lines[0] ?? 'lifecycle running').toBe('lifecycle running')

      house.restart()
      const past = await readThread(house.client, 'x')
      await settled()
      // Behind all, the new owner has the run running again, or gives it up.
      const fromLog = past.all.filter(({ seq }) => seq <= (seqs.at(-1) ?? 0))
      const known = new Map(seen.map((event) => [event.id, nameless(event)]))
      for (const event of fromLog) expect(nameless(event)).toEqual(known.get(event.id))
      const first = past.all[0]?.seq ?? Infinity
      const expected = seen.filter(({ seq }) => seq >= first).filter(isKept)
      expect(fromLog.filter(isKept).map(nameless)).toEqual(expected.map(nameless))
    }),
    { share: 10 },
  )
})

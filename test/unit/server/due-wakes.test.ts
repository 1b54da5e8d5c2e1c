/** Waking of threads that are due: each once it is, however often it fails; without a list. */

import { describe, expect, it } from 'vitest'

import type { ActorKey } from '../../../cluster/index.ts'
import type { DueThread } from '../../../src/search/index.ts'
import { dueThreadActors, DueWakes } from '../../../src/server/due-wakes.ts'
import { virtualEnv } from '../../support/env.ts'
import { settled } from '../../support/thread-house.ts'

/** A store of sleeping threads, each of which is gone from it when it is woken. */
function sleepers(...times: number[]) {
  const env = virtualEnv()
  const startMs = env.nowMs()
  const asleep = new Map(
    times.map((ms,
      i): [string, DueThread] => [`${i}`, { tenant: 't', threadId: `${i}`, atMs: startMs + ms,
      no: i + 1 }]
    ),
  )
  const story: string[] = []
  const failing = { due: false, wake: new Set<string>() }
  let asked = 0
  const wakes = new DueWakes({
    env,
    due: dueThreadActors(async ({ atMs, no }, limit) => {
      asked++
      if (failing.due) throw new Error('the store is away')
      return [...asleep.values()].toSorted((a, b) => a.atMs - b.atMs || a.no - b.no)
        .filter((each) => each.atMs > atMs || (each.atMs === atMs && each.no > no)).slice(0, limit)
    }),
    wake: async ({ id }: ActorKey) => {
      if (failing.wake.has(id)) throw new Error('it cannot live')
      story.push(`${id} at ${env.nowMs() - startMs}`)
      asleep.delete(id)
    },
  })
  const pass = async (ms: number) => {
    env.advance(ms)
    await settled()
  }
  return { env, wakes, story, failing, pass, startMs, asked: () => asked }
}

describe('threads that sleep', () => {
  it('are woken when they are due, one time at a time', async () => {
    const { wakes, story, pass, env } = sleepers(5_000, 1_000, 5_000, 100_000)
    wakes.note(0)
    for (let second = 0; second < 110; second++) await pass(1_000)
    expect(story).toEqual(['1 at 1000', '0 at 5000', '2 at 5000', '3 at 100000'])
    expect(env.timers()).toBe(0)
  })

  it('are looked for only when one is due', async () => {
    const { wakes, pass, asked } = sleepers(600_000)
    wakes.note(0)
    await pass(0)
    for (let minute = 0; minute < 9; minute++) await pass(60_000)
    expect(asked()).toBe(1)
  })

  it('are woken in time if one is due earlier than those before it', async () => {
    const { wakes, story, pass, startMs } = sleepers(50_000, 2_000)
    wakes.note(startMs + 50_000)
    await pass(1_000)
    wakes.note(startMs + 2_000)
    await pass(1_000)
    expect(story).toEqual(['1 at 2000'])
  })

  it('are all woken, however many are due at once', async () => {
    const { wakes, story, pass } = sleepers(...Array.from({ length: 1_000 }, () => 10))
    wakes.note(0)
    for (let turn = 0; turn < 200; turn++) await pass(10)
    expect(new Set(story.map((each) => each.split(' ')[0])).size).toBe(1_000)
  })

  it('are tried again if the store or one of them fails, less and less often', async () => {
    const { wakes, story, pass, failing, asked, env } = sleepers(0, 0, 0)
    failing.due = true
    wakes.note(0)
    for (let second = 0; second < 600; second++) await pass(1_000)
    expect(asked()).toBeGreaterThan(10)
    expect(asked()).toBeLessThan(20)
    failing.due = false
    failing.wake.add('1')
    for (let second = 0; second < 60; second++) await pass(1_000)
    expect(story.map((each) => each[0])).toEqual(['0', '2'])
    failing.wake.clear()
    for (let second = 0; second < 60; second++) await pass(1_000)
    expect(story).toHaveLength(3)
    expect(env.lines.every(({ level }) => level === 'warn')).toBe(true)
  })

  it('are left alone once it is closed', async () => {
    const { wakes, story, pass } = sleepers(1_000)
    wakes.note(0)
    await pass(0)
    wakes.close()
    await pass(10_000)
    expect(story).toEqual([])
  })
})

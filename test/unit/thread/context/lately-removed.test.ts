/** Removed threads and runs, which repeated starts must not make again. */

import { expect, it } from 'vitest'

import { LatelyRemoved } from '../../../../src/thread/context/lately-removed.ts'
import { virtualEnv } from '../../../support/env.ts'

const hourMs = 3_600_000
const name = { tenant: 't', threadId: 'x' }

it('The keys of a deleted thread are refused for 24 hours, also if it was created again.', () => {
  const env = virtualEnv()
  const removed = new LatelyRemoved(env)
  const includes = (key: string) =>
    removed.includes(name, { runId: 'r', key, againAfterMs: undefined })
  removed.noteThread(name, ['a'])
  expect([includes('a'), includes('b'), includes('')]).toEqual([true, false, false])
  env.advance(23 * hourMs)
  expect(includes('a')).toBe(true)
  env.advance(2 * hourMs)
  expect(includes('a')).toBe(false)
})

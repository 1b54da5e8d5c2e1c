/** Large replies that wait to be fetched: each once, not for long, and not too many. */

import { expect, it } from 'vitest'

import { ReplyStash } from '../../../../cluster/transport/reply-stash.ts'
import { virtualEnv } from '../../../support/env.ts'

const mebibytes = (count: number) => new Uint8Array(count * 1024 * 1024)

it('A reply is kept until it is fetched.', () => {
  const env = virtualEnv()
  const kept = new ReplyStash(env)
  const reply = mebibytes(2)
  expect([kept.keep('one', reply), kept.keep('one', reply)]).toEqual([true, true])
  expect([kept.take('one'), kept.take('one')]).toEqual([reply, undefined])
  expect(env.timers()).toBe(0)
})

it('A reply that is not fetched is forgotten after five seconds.', () => {
  const env = virtualEnv()
  const kept = new ReplyStash(env)
  kept.keep('one', mebibytes(2))
  env.advance(5_000)
  expect(kept.take('one')).toBeUndefined()
})

it('A reply beyond the limit is not kept until others are gone.', () => {
  const env = virtualEnv()
  const kept = new ReplyStash(env)
  const large = mebibytes(64)
  expect(['one', 'two', 'three'].map((id) => kept.keep(id, large))).toEqual([true, true, false])
  kept.take('one')
  expect(kept.keep('three', large)).toBe(true)
  env.advance(5_000)
  expect(kept.keep('four', large)).toBe(true)
})

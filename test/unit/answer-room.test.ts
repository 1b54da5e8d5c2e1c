/** The room of answers: each has its bound, and all that are gathered at once have one together. */

import { expect, it } from 'vitest'

import { AnswerRoom } from '../../src/answer-room.ts'

const most = 128 * 1024 * 1024
/** The engine keeps one letter for all of it. */
const long = 'x'.repeat(most)

it('An answer has so much room, and no more.', () => {
  using room = new AnswerRoom()
  room.take(long)
  expect(() => room.take('x')).toThrow(expect.objectContaining({ code: 'too_large' }))
})

it('Whoever gathers beside too many others is asked to come again, and finds room then.', () => {
  using others = new DisposableStack()
  for (let n = 0; n < 4; n++) others.use(new AnswerRoom()).take(long)
  using late = new AnswerRoom()
  expect(() => late.take('x')).toThrow(expect.objectContaining(
    { code: 'unavailable', httpStatus: 503, retry: 'same' }))
  others.dispose()
  late.take('x')
})

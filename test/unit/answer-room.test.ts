/** The room of answers: one limit for each, and one for all that are gathered at the same time. */

import { expect, it } from 'vitest'

import { AnswerRoom } from '../../src/answer-room.ts'

const most = 128 * 1024 * 1024
/** V8 stores it as one repeated character. */
const long = 'x'.repeat(most)

it('An answer may have 128 MB, and no more.', () => {
  using room = new AnswerRoom()
  room.take(long)
  expect(() => room.take('x')).toThrow(expect.objectContaining({ code: 'too_large' }))
})

it('An answer beside too many others is refused as retryable, until there is room again.', () => {
  using others = new DisposableStack()
  for (let n = 0; n < 4; n++) others.use(new AnswerRoom()).take(long)
  using late = new AnswerRoom()
  expect(() => late.take('x')).toThrow(expect.objectContaining(
    { code: 'unavailable', httpStatus: 503, retry: 'same' }))
  others.dispose()
  late.take('x')
})

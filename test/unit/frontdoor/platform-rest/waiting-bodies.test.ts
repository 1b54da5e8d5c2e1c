/** Bodies that wait for the ingest thread: one tenant leaves room for the others. */

import { expect, it } from 'vitest'

import { WaitingBodies } from '../../../../src/frontdoor/platform-rest/waiting-bodies.ts'

const full = expect.objectContaining({ code: 'full' }) as unknown

it('A tenant with too much waiting is refused, and the others are not.', () => {
  const waiting = new WaitingBodies({ inAll: 100, ofTenant: 50 })
  const release = waiting.hold('acme', 40)
  expect(() => waiting.hold('acme', 11)).toThrow(full)
  waiting.hold('other', 50)
  waiting.hold('acme', 10)
  expect(() => waiting.hold('third', 1)).toThrow(full)
  release()
  waiting.hold('third', 40)
})

it('A single body may be longer than the share of its tenant.', () => {
  const waiting = new WaitingBodies({ inAll: 100, ofTenant: 10 })
  waiting.hold('acme', 100)()
  waiting.hold('acme', 100)
})

/** How many front doors share a limit if its counter is unreachable. */

import { expect, it } from 'vitest'

import type { Member } from '../../../cluster/index.ts'
import { frontDoors } from '../../../src/server/actors.ts'

const member: Member = { id: 'self', address: 'self:1' }
const other: Member = { id: 'other', address: 'other:1' }

it.each([
  ['two members', [member, other], 2],
  ['a front door that is no member, and the members', [other], 2],
  ['a front door alone if there are no members', [], 1],
])('The limit is shared by %s.', (_, view, doors) => {
  expect(frontDoors({ member, view, leaving: [], shards: [] })).toBe(doors)
})

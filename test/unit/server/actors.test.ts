/** Among how many front doors a limit is shared whose counter is out of reach. */

import { expect, it } from 'vitest'

import type { Member } from '../../../cluster/index.ts'
import { frontDoors } from '../../../src/server/actors.ts'

const member: Member = { id: 'self', address: 'self:1' }
const other: Member = { id: 'other', address: 'other:1' }

it.each([
  ['two members', [member, other], 2],
  ['itself, where it is no member', [other], 2],
  ['itself, where there are no members', [], 1],
])('counts %s', (_, view, doors) => {
  expect(frontDoors({ member, view, shards: [] })).toBe(doors)
})

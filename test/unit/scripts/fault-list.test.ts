/** Each fault of the list can still be put in. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

import { faults } from '../../../scripts/fault-list.ts'
import { root } from '../../support/source-tree.ts'

it('The text of each fault occurs exactly once in its file, and changes.', () => {
  const times = faults.map((
    { name, file, before, after },
  ) => [name,
    before === after ? 0 : readFileSync(join(root, file), 'utf8').split(before).length - 1]
  )
  expect(times.filter(([, count]) => count !== 1)).toEqual([])
  expect(faults.length).toBeGreaterThanOrEqual(20)
})

it('The faults have names and places of their own.', () => {
  expect(new Set(faults.map(({ name }) => name)).size).toBe(faults.length)
  expect(new Set(faults.map(({ file, before }) => `${file}: ${before}`)).size).toBe(faults.length)
})

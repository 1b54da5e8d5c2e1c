/** What the main thread knows of branches: a write that may be refused is left to the writer. */

import { describe, expect, it } from 'vitest'

import type { NewRow } from '../../../../../src/checkpoint/index.ts'
import { BranchTails } from '../../../../../src/store/embedded/durable/branch-tails.ts'
import type { Lookup } from '../../../../../src/store/embedded/writer/lookup.ts'
import { aBranch, aRow } from '../../../../contract/rows.ts'

const append = (...rows: NewRow[]) => ({ kind: 'append', rows, updates: [] }) as const

function branchTails(hasBranch: (id: string) => boolean): BranchTails {
  return new BranchTails({ hasBranch } as Partial<Lookup> as Lookup)
}

describe('the tails of branches', () => {
  it('takes the first row of a branch whose id was just made, without looking for it', () => {
    const tails = branchTails((id) => {
      throw new Error(`looked for ${id}`)
    })
    const [made, other] = [aBranch(), aBranch()]
    tails.expect(made.id)
    expect(tails.takes(append(aRow({ branch: made, seq: 1 })))).toBe(true)
    expect(tails.takes(append(aRow({ branch: other, seq: 1 })))).toBe(false)
    expect(tails.takes(append(aRow({ branch: made, seq: 2 })))).toBe(false)
  })

  it('takes what follows the newest row, and no first row again', () => {
    const tails = branchTails(() => false)
    const branch = aBranch()
    tails.expect(branch.id)
    const first = append(aRow({ branch, seq: 1 }))
    tails.note(first)
    expect(tails.takes(first)).toBe(false)
    expect(tails.takes(append(aRow({ branch, seq: 2 })))).toBe(true)
  })

  it('takes nothing for a branch that is there and of which it knows no more', () => {
    const branch = aBranch()
    const tails = branchTails((id) => id === branch.id)
    expect(tails.takes(append(aRow({ branch, seq: 1 })))).toBe(false)
  })
})

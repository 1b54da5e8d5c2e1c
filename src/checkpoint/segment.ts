/** The parts that a branch is made of: rows of its own, and before them rows of its ancestors. */

import type { Branch } from '../../proto/gen/storage/v1/row.ts'

/** Rows `from` to `through` of one branch. */
export interface Segment {
  readonly id: string
  readonly from: number
  readonly through: number
}

/** The parts that a branch is made of, newest first. The first one is its own and has no end. */
export function segmentsOf(branch: Branch): Segment[] {
  const segments: Segment[] = []
  let { id } = branch
  let through = Number.MAX_SAFE_INTEGER
  for (const ancestor of branch.ancestors.toReversed()) {
    const end = Math.min(ancestor.through, through)
    if (end < through) segments.push({ id, from: end + 1, through })
    id = ancestor.id
    through = end
  }
  if (through > 0) segments.push({ id, from: 1, through })
  return segments
}

/** Lanes of the time line: one for each branch, the branch that leads to now at the left. */

/** A step, as far as lanes go. */
export interface Knot {
  readonly id: string
  readonly parent: string | undefined
}

/** Lane of a step, and the lines that its row shows. */
export interface Lane {
  readonly lane: number
  /** Lanes that pass the row. */
  readonly through: readonly number[]
  /** Lanes of branches that began at this step: they come in from above. */
  readonly joins: readonly number[]
  /** Nothing follows the step on its own lane. */
  readonly isTip: boolean
  /** The line goes on below: the step has a parent, or one that is not read yet. */
  readonly hasParent: boolean
}

/** Lanes of steps, newest first. A lane is free again below the step where its branch began. */
export function lanesOf(knots: readonly Knot[], headId: string | undefined): readonly Lane[] {
  const onHead = lineOf(knots, headId)
  /** By lane: the step that it leads down to. */
  const open = new Map<number, string>()
  return knots.map(({ id, parent }) => {
    const mine = [...open].filter(([, target]) => target === id).map(([lane]) => lane).sort(order)
    const lane = onHead.has(id) ? 0 : mine.find((each) => each > 0) ?? freeLane(open)
    for (const each of mine) open.delete(each)
    const through = [...open.keys()].sort(order)
    if (parent !== undefined) open.set(lane, parent)
    return { lane, through, joins: mine.filter((each) => each !== lane),
      isTip: !mine.includes(lane), hasParent: parent !== undefined }
  })
}

const order = (one: number, other: number) => one - other

function lineOf(knots: readonly Knot[], headId: string | undefined): ReadonlySet<string> {
  const parents = new Map(knots.map(({ id, parent }) => [id, parent]))
  const line = new Set<string>()
  for (let id = headId; id !== undefined && !line.has(id); id = parents.get(id)) line.add(id)
  return line
}

/** The first lane is kept for the branch that leads to now. */
function freeLane(open: ReadonlyMap<number, string>): number {
  let lane = 1
  while (open.has(lane)) lane++
  return lane
}

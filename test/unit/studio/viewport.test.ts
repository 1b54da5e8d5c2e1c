/** The part of a graph that its canvas shows. */

import { describe, expect, it } from 'vitest'

import { centredOn, isAllSeen, isNear, readable, seenPart, showing, whole,
  zoomedAt } from '../../../src/studio/graph/viewport.ts'

const canvas = { width: 400, height: 800 }
const small = { width: 200, height: 300 }
/** About 44 nodes below each other. */
const tall = { width: 300, height: 3_400 }
const node = { id: 'n', x: 80, y: 1_700, width: 146, height: 36 }

describe('a viewport', () => {
  it('opens on all of a graph that can be read so, never enlarged', () => {
    expect(readable(canvas, small, undefined)).toEqual({ zoom: 1, x: 100, y: 250 })
    expect(isAllSeen(readable(canvas, small, undefined), canvas, small)).toBe(true)
  })

  it('opens a large graph at a size that can be read: its beginning, or around a node', () => {
    const first = readable(canvas, tall, undefined)
    expect(first).toEqual({ zoom: .75, x: 87.5, y: 0 })
    expect(isAllSeen(first, canvas, tall)).toBe(false)
    const around = readable(canvas, tall, node)
    expect((node.y + node.height / 2) * .75 + around.y).toBe(400)
    const last = readable(canvas, tall, { ...node, y: 3_350 })
    expect(last.y).toBe(800 - 3_400 * .75)
  })

  it('shows all of it when asked to, however small', () => {
    expect(isAllSeen(whole(canvas, tall), canvas, tall)).toBe(true)
    expect(whole(canvas, { width: 100_000, height: 10 }).zoom).toBe(.1)
    expect(whole({ width: 0, height: 0 }, small).zoom).toBe(.1)
  })

  it('zooms around a point, within bounds', () => {
    const view = { x: 10, y: 20, zoom: 1 }
    expect(zoomedAt(view, { x: 110, y: 220 }, 1.5)).toEqual({ zoom: 1.5, x: -40, y: -80 })
    expect(zoomedAt(view, { x: 10, y: 20 }, 100)).toEqual({ zoom: 2, x: 10, y: 20 })
    expect(zoomedAt(view, { x: 10, y: 20 }, 0).zoom).toBe(.1)
  })

  it('moves as little as shows a node, and not at all if it is seen', () => {
    const view = { x: 0, y: 0, zoom: 1 }
    expect(showing(view, canvas, { ...node, y: 100 })).toBe(view)
    expect(showing(view, canvas, node)).toEqual({ zoom: 1, x: 0, y: 800 - 16 - 1_736 })
    expect(showing({ ...view, y: -2_000 }, canvas, node)).toEqual({ zoom: 1, x: 0, y: 16 - 1_700 })
  })

  it('knows which part is seen, and which nodes are near it', () => {
    const view = centredOn({ x: 0, y: 0, zoom: .5 }, canvas, { x: 100, y: 1_700 })
    expect(seenPart(view, canvas)).toEqual({ x: -300, y: 900, width: 800, height: 1_600 })
    expect(isNear(view, canvas, node)).toBe(true)
    expect(isNear(view, canvas, { ...node, y: 20_000 })).toBe(false)
  })
})

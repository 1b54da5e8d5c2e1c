/** The layout of a graph: made by a worker, and kept for the next look at it. */

import { useEffect, useState } from 'react'

import { hashOf } from './drawing.ts'
import type { Drawing } from './drawing.ts'
import type { Direction, Placed } from './placed.ts'

/** A drawing and where its parts lie. */
export interface LaidOut {
  readonly drawing: Drawing
  readonly placed: Placed
}

const most = 30
const kept = new Map<string, Placed>()
interface Waiting {
  readonly drawing: Drawing
  readonly direction: Direction
  readonly answers: ((placed: Placed) => void)[]
}

const waiting = new Map<string, Waiting>()
/** Null where workers are refused: then the plain layout is made here. */
let worker: Worker | null | undefined

/** The layout of a drawing; that of the one before until it is there, at first undefined. */
export function useLayout(drawing: Drawing, direction: Direction): LaidOut | undefined {
  const [laidOut, setLaidOut] = useState<LaidOut>()
  useEffect(() => {
    let isWanted = true
    ask(drawing, direction, (placed) => isWanted && setLaidOut({ drawing, placed }))
    return () => void (isWanted = false)
  }, [drawing, direction])
  return laidOut
}

function ask(drawing: Drawing, direction: Direction, answer: (placed: Placed) => void): void {
  const key = `${direction} ${hashOf(drawing)}`
  const known = kept.get(key)
  if (known !== undefined) return answer(known)
  const others = waiting.get(key)
  if (others !== undefined) return void others.answers.push(answer)
  const asked = { drawing, direction, answers: [answer] }
  waiting.set(key, asked)
  startLayouts()
  if (worker == null) void settlePlainly(key, asked)
  else worker.postMessage({ key, drawing, direction })
}

/** Starts the worker, if it does not run yet. */
export function startLayouts(): void {
  if (worker !== undefined) return
  worker = new Worker(new URL('./layout-worker.ts', import.meta.url), { type: 'module' })
  worker.addEventListener('message',
    ({ data }: MessageEvent<{ key: string; placed: Placed }>) => settle(data.key, data.placed))
  worker.addEventListener('error', () => {
    worker = null
    for (const [key, asked] of waiting) void settlePlainly(key, asked)
  })
}

async function settlePlainly(key: string, { drawing, direction }: Waiting): Promise<void> {
  const { layered } = await import('./layered.ts')
  settle(key, layered(drawing, direction))
}

function settle(key: string, placed: Placed): void {
  kept.set(key, placed)
  if (kept.size > most) kept.delete(kept.keys().next().value!)
  for (const answer of waiting.get(key)?.answers ?? []) answer(placed)
  waiting.delete(key)
}

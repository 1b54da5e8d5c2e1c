/** The layout of a graph: made by a worker, and kept for the next look at it. */

import { useEffect, useState } from 'react'

import { hashOf } from './drawing.ts'
import type { Drawing } from './drawing.ts'
import type { Placed } from './placed.ts'

/** A drawing and where its parts lie. */
export interface LaidOut {
  readonly drawing: Drawing
  readonly placed: Placed
}

const most = 30
const kept = new Map<string, Placed>()
const waiting = new Map<string, {
  readonly drawing: Drawing
  readonly answers: ((placed: Placed) => void)[]
}>()
/** Null where workers are refused: then the plain layout is made here. */
let worker: Worker | null | undefined

/** The layout of a drawing; that of the one before until it is there, at first undefined. */
export function useLayout(drawing: Drawing | undefined): LaidOut | undefined {
  const [laidOut, setLaidOut] = useState<LaidOut>()
  useEffect(() => {
    if (drawing === undefined) return
    let isWanted = true
    ask(drawing, (placed) => isWanted && setLaidOut({ drawing, placed }))
    return () => void (isWanted = false)
  }, [drawing])
  return laidOut
}

function ask(drawing: Drawing, answer: (placed: Placed) => void): void {
  const hash = hashOf(drawing)
  const known = kept.get(hash)
  if (known !== undefined) return answer(known)
  const others = waiting.get(hash)
  if (others !== undefined) return void others.answers.push(answer)
  waiting.set(hash, { drawing, answers: [answer] })
  startLayouts()
  if (worker == null) void settlePlainly(hash, drawing)
  else worker.postMessage({ hash, drawing })
}

/** Starts the worker, if it does not run yet. */
export function startLayouts(): void {
  if (worker !== undefined) return
  worker = new Worker(new URL('./layout-worker.ts', import.meta.url), { type: 'module' })
  worker.addEventListener('message',
    ({ data }: MessageEvent<{ hash: string; placed: Placed }>) => settle(data.hash, data.placed))
  worker.addEventListener('error', () => {
    worker = null
    for (const [hash, { drawing }] of waiting) void settlePlainly(hash, drawing)
  })
}

async function settlePlainly(hash: string, drawing: Drawing): Promise<void> {
  const { layered } = await import('./layered.ts')
  settle(hash, layered(drawing))
}

function settle(hash: string, placed: Placed): void {
  kept.set(hash, placed)
  if (kept.size > most) kept.delete(kept.keys().next().value!)
  for (const answer of waiting.get(hash)?.answers ?? []) answer(placed)
  waiting.delete(hash)
}

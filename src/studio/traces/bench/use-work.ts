/** The progress of a work on many runs, and its start and stop. */

import { useEffect, useRef, useState } from 'react'

import { work } from './trace-work.ts'
import type { WorkAct } from './trace-work.ts'
import { pagesOf } from './work-target.ts'
import type { WorkTarget } from './work-target.ts'

/** State of a work: nothing was begun, it goes on, or it ended in one of three ways. */
export type WorkState =
  | { readonly kind: 'asking' }
  | { readonly kind: 'working' | 'stopped' | 'finished'; readonly done: number }
  | { readonly kind: 'failed'; readonly done: number; readonly error: unknown }

/** The state of the work, and functions that start and stop it. It stops with its component. */
export function useWork(target: WorkTarget) {
  const [state, setState] = useState<WorkState>({ kind: 'asking' })
  const running = useRef<AbortController>(null)
  useEffect(() => () => running.current?.abort(), [])
  const start = async (act: WorkAct, after: () => unknown) => {
    const own = running.current = new AbortController()
    let done = 0
    setState({ kind: 'working', done })
    try {
      for await (done of work(pagesOf(target, own.signal), act, own.signal))
        setState({ kind: 'working', done })
      setState({ kind: own.signal.aborted ? 'stopped' : 'finished', done })
    } catch (error) {
      setState(own.signal.aborted ? { kind: 'stopped', done } : { kind: 'failed', done, error })
    }
    void after()
  }
  return { state, start, stop: () => running.current?.abort() }
}

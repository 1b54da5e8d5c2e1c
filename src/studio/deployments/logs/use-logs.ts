/** Follows the lines of a deployment while the page is seen. */

import { useEffect, useState } from 'react'

import { after } from '../../env.ts'
import { followLogs } from '../calls/control.ts'
import type { LogWish } from '../calls/control.ts'
import type { LogLine } from '../calls/deployment.ts'
import { noLines, reopened, withLines } from './log-lines.ts'
import type { LogState } from './log-lines.ts'

/** Lines that the server sends at first. */
const firstLines = 500
/** Lines that come at once are drawn at once. */
const gatherMs = 60

/** What is known of the lines. */
export interface FollowedLogs {
  readonly state: LogState
  /** True once the server has answered. */
  readonly isOpen: boolean
  /** Why the server refuses for good; undefined if it does not. */
  readonly error: unknown
  /** Why there is no connection now; it is tried again. */
  readonly away: Error | undefined
}

/** Follows lines, or holds them still. Another wish must be another component: its key differs. */
export function useLogs(name: string, { revision, level }: Omit<LogWish, 'limit'>,
  isHeld: boolean): FollowedLogs {
  const [state, setState] = useState(noLines)
  const [isOpen, setOpen] = useState(false)
  const [error, setError] = useState<unknown>()
  const [away, setAway] = useState<Error>()
  useEffect(() => {
    if (isHeld) return undefined
    const leave = new AbortController()
    let gathered: LogLine[] = []
    let forget: (() => void) | undefined
    const flush = () => {
      const lines = gathered
      gathered = []
      forget = undefined
      setState((before) => withLines(before, lines))
    }
    const read = async () => {
      const opened = () => {
        setOpen(true)
        setState(reopened)
      }
      for await (const line of followLogs(name, { revision, level, limit: firstLines }, {
        signal: leave.signal,
        away: setAway,
        opened,
      })) {
        gathered.push(line)
        if (gathered.length >= firstLines) {
          forget?.()
          flush()
        } else forget ??= after(gatherMs, flush)
      }
    }
    read().catch((thrown: unknown) => {
      if (leave.signal.aborted) return
      setAway(undefined)
      setError(thrown)
    })
    return () => {
      leave.abort()
      forget?.()
      if (gathered.length > 0) flush()
    }
  }, [name, revision, level, isHeld])
  return { state, isOpen, error, away }
}

/** Follows the lines of a deployment while the page is seen. */

import { useState } from 'react'

import { followLogs } from '../../api/control/control.ts'
import type { LogRequest } from '../../api/control/control.ts'
import type { LogLine } from '../../api/control/deployment.ts'
import { useFollowed } from '../../api/control/use-followed.ts'
import type { Connection } from '../../api/control/use-followed.ts'
import { noLines, reopened, withLines } from './log-lines.ts'
import type { LogState } from './log-lines.ts'

/** Lines that the server sends at first. */
const firstLines = 500
/** Milliseconds in which lines are gathered. */
const gatherMs = 60

/** State of the lines, and of the connection that brings them. */
export interface FollowedLogs extends Connection {
  readonly state: LogState
}

/** Follows lines, or holds them still. Each request needs a component with a key of its own. */
export function useLogs(name: string, request: Omit<LogRequest, 'limit'>,
  isHeld: boolean): FollowedLogs {
  const [state, setState] = useState(noLines)
  const connection = useFollowed({
    key: isHeld ? null : JSON.stringify([name, request]),
    follow: (following) => followLogs(name, { ...request, limit: firstLines }, following),
    opened: () => setState(reopened),
    take: (lines: readonly LogLine[]) => setState((before) => withLines(before, lines)),
    gatherMs,
    gatheredMax: firstLines,
  })
  return { ...connection, state }
}

/** The line below the last message: which node runs, and since when. */

import { useEffect, useState } from 'react'

import { every, nowMs } from '../env.ts'
import { useLive } from '../live/live-store.ts'
import type { LiveStore } from '../live/live-store.ts'
import { duration } from '../parts/amounts.ts'
import { Chip } from '../parts/chip.tsx'
import { Notice } from '../parts/notice.tsx'
import { StatusGlyph } from '../parts/status.tsx'
import css from './live-line.module.css'

/** Answers name the question that they answer: a late one starts nothing. */
const answeredBefore = 'This question was already answered, perhaps in another tab. ' +
  'Your answer was not used.'

/** The line, while a run goes on; afterwards a word about an answer that came too late. */
export function LiveLine({ store }: { readonly store: LiveStore }) {
  const isOn = useLive(store, ({ run }) => run !== undefined && !run.over)
  const isAway = useLive(store, ({ away }) => away)
  const last = useLive(store, ({ run }) => run?.last)
  const attempt = useLive(store, ({ run }) => run?.attempt ?? 1)
  const beganMs = useLive(store, ({ run }) => run?.beganMs ?? 0)
  const isLate = useLive(store, ({ run }) => run?.error?.error === 'UnknownInterruptError')
  return (
    <>
      {isOn && (
        <div className={css['line']}>
          <StatusGlyph status="running" />
          <span role="status">
            {isAway
              ? 'Connection lost: the run goes on, and is shown again as soon as possible.'
              : last?.replaceAll(':', ' › ') ?? 'Starting'}
          </span>
          <Clock sinceMs={beganMs} />
          {attempt > 1 && <Chip tone="waiting">attempt {attempt}: resumed after a failure</Chip>}
        </div>
      )}
      {isLate && (
        <Notice tone="failed">
          <p>{answeredBefore}</p>
        </Notice>
      )}
    </>
  )
}

/** Goes on by itself, and renders nothing else. */
function Clock({ sinceMs }: { readonly sinceMs: number }) {
  const [now, setNow] = useState(nowMs)
  useEffect(() => every(100, () => setNow(nowMs())), [])
  return (
    <span className={css['clock']} aria-hidden="true">{duration(Math.max(1, now - sinceMs))}</span>
  )
}

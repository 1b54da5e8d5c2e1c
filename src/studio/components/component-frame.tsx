/** A component in a frame of its own, which cannot reach the page around it. */

import { useEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'

import type { ComponentBundle } from '../api/components.ts'
import { componentPageUrl } from '../api/place.ts'
import { elapsedMs, every } from '../env.ts'
import { useTheme } from '../shell/theme.ts'
import css from './components.module.css'
import type { FrameMail } from './frame-mail.ts'
import { begunFrame, received, ticked } from './frame-state.ts'
import type { FrameState } from './frame-state.ts'
import type { UiMessage } from './ui-message.ts'

const tickMs = 1_000

interface FrameProps {
  readonly bundle: ComponentBundle
  readonly message: UiMessage
}

/** A component as it is drawn; a sentence if it cannot be. */
export function ComponentFrame({ bundle, message }: FrameProps) {
  const frame = useRef<HTMLIFrameElement>(null)
  const { state, send } = useFrame(frame)
  const theme = useTheme()
  const { name, props, metadata } = message
  const isReady = state.phase === 'ready' || state.phase === 'shown'
  useEffect(() => {
    if (isReady) send({ kind: 'show', ...bundle, name })
  }, [isReady, bundle, name, send])
  useEffect(() => {
    if (isReady) send({ kind: 'draw', props, meta: metadata, theme })
  }, [isReady, bundle, name, props, metadata, theme, send])
  if (state.phase === 'failed') return <p className={css['broken']}>{name}: {state.reason}</p>
  return (
    <>
      <iframe ref={frame} className={css['frame']} sandbox="allow-scripts" src={componentPageUrl}
        title={`Component ${name}`} style={{ height: state.height }} referrerPolicy="no-referrer" />
      {state.wanted && (
        <p className={css['broken']}>
          {name} would go on with the thread here. In the Studio it only shows.
        </p>
      )}
    </>
  )
}

function useFrame(frame: React.RefObject<HTMLIFrameElement | null>) {
  const [state, setState] = useState<FrameState>(() => begunFrame(elapsedMs()))
  const newest = useRef(state)
  const [send] = useState(() => (mail: FrameMail) =>
    // Its origin is nobody's, so that none can be named.
    frame.current?.contentWindow?.postMessage(mail, '*')
  )
  useEffect(() => {
    const become = (next: FrameState) => {
      const { current: before } = newest
      newest.current = next
      if (next.phase === 'failed') {
        // At once: a frame that never stops sending would keep React from taking it away.
        if (before.phase !== 'failed') flushSync(() => setState(next))
      } else if (isSeen(before, next)) setState(next)
    }
    const take = ({ source, data }: MessageEvent<unknown>) => {
      if (source === null || source !== frame.current?.contentWindow) return
      become(received(newest.current, data, elapsedMs()))
    }
    window.addEventListener('message', take)
    const stop = every(tickMs, () => {
      const nowMs = elapsedMs()
      // Nobody asks it while the tab is hidden.
      if (document.visibilityState === 'hidden') become({ ...newest.current, lastMs: nowMs })
      else become(ticked(newest.current, nowMs))
      send({ kind: 'ping' })
    })
    return () => {
      stop()
      window.removeEventListener('message', take)
    }
  }, [frame, send])
  return { state, send }
}

/** True if a person sees that the state is another one. */
const isSeen = (before: FrameState, next: FrameState): boolean =>
  before.phase !== next.phase || before.height !== next.height || before.wanted !== next.wanted

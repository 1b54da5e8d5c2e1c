/** The progress of a work on many runs, and its end. */

import type { ReactNode } from 'react'

import { counted } from '../../parts/amounts.ts'
import { Button } from '../../parts/button.tsx'
import { ErrorNotice } from '../../parts/notice.tsx'
import css from './bench.module.css'
import type { WorkState } from './use-work.ts'

/** Progress with a button that stops it; `children` stand there at the end. */
export function WorkProgress({ state, noun, did, stop, close, children }: {
  readonly state: Exclude<WorkState, { kind: 'asking' }>
  readonly noun: string
  /** Words behind the number, such as `deleted`. */
  readonly did: string
  readonly stop: () => void
  readonly close: () => void
  readonly children?: ReactNode
}) {
  return (
    <div className={css['form']}>
      {state.kind === 'working' && <progress aria-label="Progress" />}
      <p role="status">
        {state.kind === 'stopped' && 'Stopped. '}
        {counted(state.done, noun)} {did}.
      </p>
      {state.kind === 'failed' && <ErrorNotice error={state.error} />}
      <footer>
        {state.kind === 'working'
          ? <Button onClick={stop}>Stop</Button>
          : (
            <>
              <Button onClick={close}>Close</Button>
              {children}
            </>
          )}
      </footer>
    </div>
  )
}

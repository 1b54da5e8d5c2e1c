/** The strip above a step of the past: what may be done from there. */

import type { ReactNode } from 'react'

import { Button } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import css from './chosen-step.module.css'

/** Actions on the chosen step. */
export interface ChosenActs {
  readonly runAgain: () => void
  readonly edit: () => void
  readonly compare: () => void
  readonly copy: () => void
  readonly back: () => void
}

/** Strip above a step of the past, with the actions on it. */
export function ChosenStep({ place, acts, refusal, warning }: {
  /** Such as `step 3`. */
  readonly place: string
  readonly acts: ChosenActs
  readonly refusal: string | undefined
  /** Words about what goes on from here does again. */
  readonly warning: ReactNode
}) {
  const may = { disabled: refusal !== undefined, title: refusal }
  return (
    <div className={css['strip']} role="status">
      <p>
        <b>{place[0]!.toUpperCase() + place.slice(1)}.</b> What you send now starts a branch here.
      </p>
      {warning}
      <Button small kind="quiet" className={css['back'] ?? ''} onClick={acts.back}>
        Back to now
      </Button>
      <div>
        <Button small {...may} icon={<Icon name="play" size={14} />} onClick={acts.runAgain}>
          Run again
        </Button>
        <Button small {...may} icon={<Icon name="edit" size={14} />} onClick={acts.edit}>
          Edit
        </Button>
        <Button small icon={<Icon name="compare" size={14} />} onClick={acts.compare}>
          Compare with now
        </Button>
        <Button small {...may} icon={<Icon name="copy" size={14} />} onClick={acts.copy}>
          Copy to a new thread
        </Button>
      </div>
    </div>
  )
}

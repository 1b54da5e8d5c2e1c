/** Strips above a step of the past, and above two that are compared. */

import { useNavigate } from '@tanstack/react-router'

import { copyThread } from '../api/threads.ts'
import { RepeatedEffects } from '../effects/repeated-effects.tsx'
import { Button } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { ChosenStep } from './chosen-step.tsx'
import css from './screen/columns.module.css'
import { placeOfState } from './screen/place-words.ts'
import type { Screen } from './screen/use-screen.ts'

/** Words for the two steps that are compared. */
export function Comparison({ screen: { search, steps, go } }: { readonly screen: Screen }) {
  const wordsOf = (id: string | undefined, otherwise: string) => {
    const step = steps.find(({ checkpoint_id: each }) => each === id)
    return step === undefined ? otherwise : placeOfState(step)
  }
  return (
    <span className={css['aside']}>
      {wordsOf(search.vs, '…')} → {wordsOf(search.at, 'now')}
      <Button small kind="quiet" label="Stop comparing" icon={<Icon name="close" size={14} />}
        onClick={() => go({ vs: undefined }, true)} />
    </span>
  )
}

/** The strip above a step of the past, with what may be done there. */
export function Chosen({ id, at, screen, failed }: {
  readonly id: string
  readonly at: string
  readonly screen: Screen
  readonly failed: (error: unknown) => void
}) {
  const { shown, go, headId, refusal, runAgain } = screen
  const navigate = useNavigate()
  const back = () => go({ at: undefined, vs: undefined })
  return (
    <ChosenStep place={placeOfState(shown ?? {})} refusal={refusal}
      warning={<RepeatedEffects threadId={id} at={at} />} acts={{
      back,
      runAgain: () => void runAgain(at).catch(failed),
      edit: () => go({ view: 'state' }, true),
      compare: () => go({ vs: headId, view: 'state' }),
      copy: () =>
        void copyThread(id, at).then(
          (made) => navigate({ to: '/threads/$id', params: { id: made.thread_id }, search: {} }),
          failed,
        ),
    }} />
  )
}

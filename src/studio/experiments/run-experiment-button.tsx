/** The button that opens the form of an experiment, which is loaded when it is pressed. */

import { lazy, Suspense, useState } from 'react'

import { useRefusal } from '../api/refusal.ts'
import { Button } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import type { DraftStart } from './experiment-draft.ts'

const RunExperiment = lazy(async () => ({
  default: (await import('./run-experiment.tsx')).RunExperiment,
}))

/** Button for an experiment over a dataset, with an assistant or a prompt. */
export function RunExperimentButton({ start, words = 'Run experiment', kind }: {
  readonly start: DraftStart
  readonly words?: string
  readonly kind?: 'primary'
}) {
  const [isOpen, open] = useState(false)
  const refusal = useRefusal()
  return (
    <>
      <Button {...kind && { kind }} icon={<Icon name="play" size={14} />} title={refusal}
        disabled={refusal !== undefined} onClick={() => open(true)}
      >
        {words}
      </Button>
      {isOpen && (
        <Suspense>
          <RunExperiment start={start} close={() => open(false)} />
        </Suspense>
      )}
    </>
  )
}

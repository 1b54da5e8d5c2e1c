/** The line below the list of traces while some are chosen, and the dialogs that it opens. */

import { useNavigate } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'

import { useRefusal } from '../../api/refusal.ts'
import { Button } from '../../parts/button.tsx'
import { ChoiceBar } from '../../rows/choice-bar.tsx'
import type { useBench } from './use-bench.ts'

const WorkDialog = lazy(async () => ({
  default: (await import('./work-dialog.tsx')).WorkDialog,
}))

/** Line with the actions on the chosen rows; nothing while none is chosen. */
export function BenchBar({ bench }: { readonly bench: ReturnType<typeof useBench> }) {
  const { choice, choose, request, ask, close, noun, areTraces, pair, projectId } = bench
  const navigate = useNavigate()
  const refusal = useRefusal()
  if (choice === undefined) return null
  const isOff = refusal !== undefined || choice !== 'all' && choice.size === 0
  return (
    <>
      <ChoiceBar label={`Chosen ${noun}s`} choice={choice} total={undefined} choose={choose}
        end={() => choose(undefined)}
      >
        {areTraces && (
          <Button small disabled={pair === undefined}
            title={pair === undefined ? 'Choose two traces.' : undefined} onClick={() =>
            pair !== undefined &&
            void navigate({ to: '/traces/$project/$trace',
              params: { project: projectId, trace: pair[0] }, search: { vs: pair[1] } })}
          >
            Compare
          </Button>
        )}
        <Button small disabled={isOff} title={refusal} onClick={() => ask('dataset')}>
          Add to dataset
        </Button>
        <Button small disabled={isOff} title={refusal} onClick={() => ask('queue')}>
          Add to queue
        </Button>
        {areTraces && (
          <Button small disabled={isOff} title={refusal} onClick={() => ask('tag')}>Tag</Button>
        )}
        {areTraces && (
          <Button small kind="danger" disabled={isOff} title={refusal} onClick={() =>
            ask('delete')}
          >
            Delete …
          </Button>
        )}
      </ChoiceBar>
      <Suspense>
        {request !== undefined && <WorkDialog request={request} close={close} />}
      </Suspense>
    </>
  )
}

/** Buttons for the actions on a deployment: open, roll back, pause and remove. */

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'

import { deploymentName, studioOf } from '../api/place.ts'
import { Button, buttonClass } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { messageOf } from '../parts/error-message.ts'
import { useActs } from '../parts/acts.ts'
import { changeDeployment } from '../api/control/control.ts'
import type { Deployment } from '../api/control/deployment.ts'

const RollBackDialog = lazy(async () => ({
  default: (await import('./roll-back-dialog.tsx')).RollBackDialog,
}))
const RemoveDialog = lazy(async () => ({
  default: (await import('./remove-dialog.tsx')).RemoveDialog,
}))

/** The buttons of the head. */
export function DeploymentActs({ deployment }: { readonly deployment: Deployment }) {
  const { name, paused, active, previous, rollout } = deployment
  const [open, setOpen] = useState<'back' | 'remove'>()
  const cache = useQueryClient()
  const pausing = useMutation({
    mutationFn: () => changeDeployment(name, { paused: !paused }),
    onSettled: () => cache.invalidateQueries({ queryKey: ['deployments'] }),
  })
  const busyWords = 'A roll-out is under way.'
  const canGoBack = active !== null && previous !== null && rollout === null
  const pauseWords = paused ? 'Resume' : 'Pause'
  useActs([
    ...canGoBack ? [{ words: 'Roll back', act: () => setOpen('back') }] : [],
    { words: pauseWords, act: () => pausing.mutate() },
  ])
  return (
    <>
      {name !== deploymentName && (
        <a className={buttonClass()} href={`${studioOf(name).href}threads`}>Open in Studio</a>
      )}
      <Button icon={<Icon name="back" size={14} />} disabled={!canGoBack} title={rollout === null
        ? previous === null ? 'There is no revision before the active one.' : undefined
        : busyWords} onClick={() => setOpen('back')}
      >
        Roll back
      </Button>
      <Button icon={<Icon name={paused ? 'play' : 'pause'} size={14} />}
        disabled={pausing.isPending} title={pausing.error === null
        ? paused ? 'None of its runs starts.' : 'No run starts until somebody resumes it.'
        : messageOf(pausing.error)} onClick={() => pausing.mutate()}
      >
        {pauseWords}
      </Button>
      <Button kind="quiet" icon={<Icon name="trash" size={14} />} label="Remove the deployment"
        onClick={() => setOpen('remove')} />
      {pausing.error !== null && (
        <span role="alert" className="unseen">{messageOf(pausing.error)}</span>
      )}
      <Suspense>
        {open === 'back' && (
          <RollBackDialog deployment={deployment} close={() => setOpen(undefined)} />
        )}
        {open === 'remove' && (
          <RemoveDialog deployment={deployment} close={() => setOpen(undefined)} />
        )}
      </Suspense>
    </>
  )
}

/** Asks where a step shall run again: on the same thread, or in a copy of it. */

import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'

import { placeOfStep, runAgain } from '../../api/platform/replay.ts'
import type { OwnStep } from '../../api/platform/replay.ts'
import { RepeatedEffects } from '../../effects/repeated-effects.tsx'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { ErrorNotice } from '../../parts/notice.tsx'
import css from './own-run-links.module.css'

const choices = [
  { id: 'branch', title: 'On this thread, as a new branch',
    words: 'The steps that are there stay. The thread goes on from the new branch.' },
  { id: 'copy', title: 'In a copy of the thread',
    words: 'The copy ends where this step began. The thread itself stays as it is.' },
] as const

/** Dialog that runs a step again, on a branch or in a copy of its thread. */
export function ReplayDialog({ own, name, close }: {
  readonly own: OwnStep
  readonly name: string
  readonly close: () => void
}) {
  const navigate = useNavigate()
  const [place, setPlace] = useState<'branch' | 'copy'>('branch')
  const work = useMutation({
    mutationFn: async () => {
      const before = (await placeOfStep(own))?.before
      if (!before) throw new Error('The thread no longer has what this step began with.')
      return runAgain(own, before, place)
    },
    onSuccess: (id) => navigate({ to: '/threads/$id', params: { id }, search: {} }),
  })
  const found = useQuery({ queryKey: ['threads', own.threadId, 'place', own.runId, own.step],
    queryFn: () => placeOfStep(own) })
  const before = found.data?.before
  const what = own.step === null ? 'The whole run' : `Step ${own.step}`
  return (
    <Dialog open close={close} title="Run again from here">
      <form className={css['form']} onSubmit={(event) => {
        event.preventDefault()
        work.mutate()
      }}>
        <p>
          {what}{' '}
          (<span dir="auto">{name}</span>) and all that follows run again, from the state that it
          began with.
        </p>
        <fieldset>
          <legend>Where</legend>
          {choices.map(({ id, title, words }) => (
            <label key={id}>
              <input type="radio" name="place" checked={place === id}
                onChange={() => setPlace(id)} />
              <span>
                {title}
                <small>{words}</small>
              </span>
            </label>
          ))}
        </fieldset>
        {before && place === 'branch' && <RepeatedEffects threadId={own.threadId} at={before} />}
        {work.isError && <ErrorNotice error={work.error} />}
        <footer>
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" kind="primary" disabled={work.isPending}>Run again</Button>
        </footer>
      </form>
    </Dialog>
  )
}

/** The drawer that starts a replay. */

import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'

import { revisionList } from '../../api/control/control.ts'
import type { Deployment, Revision } from '../../api/control/deployment.ts'
import { replayList, startReplay } from '../../api/control/replays.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Field, TextField } from '../../parts/field.tsx'
import form from '../../parts/form.module.css'
import { ErrorNotice } from '../../parts/notice.tsx'
import css from '../parts/deployments.module.css'
import { bodyOf, emptyDraft, offeredRevision, sinceChoices, triable } from './replay-words.ts'
import type { ReplayDraft } from './replay-words.ts'

interface FieldsProps {
  readonly draft: ReplayDraft
  readonly set: (change: Partial<ReplayDraft>) => void
}

/** Drawer with the form of a replay. A revision that it is opened with is chosen already. */
export function NewReplay({ deployment, revision = '', close }: {
  readonly deployment: Deployment
  readonly revision: string | undefined
  readonly close: () => void
}) {
  const { name, active } = deployment
  const { data, error } = useInfiniteQuery(revisionList(name))
  const revisions = data?.pages.flat() ?? []
  const [typed, setTyped] = useState<ReplayDraft>({ ...emptyDraft, revision })
  // One that nobody chose yet.
  const draft = { ...typed, revision: typed.revision || offeredRevision(revisions, active) }
  const set = (change: Partial<ReplayDraft>) => setTyped((old) => ({ ...old, ...change }))
  const work = useStart(name)
  return (
    <Dialog open side close={close} title="Replay recorded runs">
      <form className={form['form']} onSubmit={(event) => {
        event.preventDefault()
        work.mutate(draft)
      }}>
        <RevisionFields draft={draft} set={set} revisions={triable(revisions)} active={active} />
        <RunFields draft={draft} set={set} />
        {error !== null && <ErrorNotice error={error} />}
        {work.error !== null && <ErrorNotice error={work.error} />}
        <footer>
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" kind="primary" disabled={draft.revision === '' || work.isPending}>
            Start
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

/** Starts it, and goes to its page. */
function useStart(name: string) {
  const cache = useQueryClient()
  const navigate = useNavigate()
  return useMutation({
    mutationFn: (draft: ReplayDraft) => startReplay(name, bodyOf(draft)),
    onSuccess: async ({ replay: { id } }) => {
      void cache.invalidateQueries({ queryKey: replayList(name).queryKey })
      await navigate({ to: '/deployments/$name/replays/$id', params: { name, id }, search: {} })
    },
  })
}

function RevisionFields({ draft, set, revisions, active }: FieldsProps & {
  readonly revisions: readonly Revision[]
  readonly active: string | null
}) {
  const { graphs = [] } = revisions.find(({ name }) => name === draft.revision) ?? {}
  return (
    <>
      <Field label="Revision to try" required>
        {(ids) => (
          <select {...ids} required value={draft.revision}
            onChange={({ target }) => set({ revision: target.value, graph: '' })}
          >
            {revisions.every(({ name }) => name !== draft.revision) && (
              <option value={draft.revision}>{draft.revision || 'There is none'}</option>
            )}
            {revisions.map(({ name }) => (
              <option key={name} value={name}>{name === active ? `${name}, active` : name}</option>
            ))}
          </select>
        )}
      </Field>
      <Field label="Graph">
        {(ids) => (
          <select {...ids} value={draft.graph}
            onChange={({ target }) => set({ graph: target.value })}
          >
            <option value="">All graphs</option>
            {graphs.map(({ graph_id: graph }) => <option key={graph}>{graph}</option>)}
          </select>
        )}
      </Field>
    </>
  )
}

function RunFields({ draft, set }: FieldsProps) {
  return (
    <>
      <Field label="Runs since">
        {(ids) => (
          <select {...ids} value={draft.sinceS}
            onChange={({ target }) => set({ sinceS: Number(target.value) })}
          >
            {sinceChoices.map(([s, words]) => <option key={s} value={s}>{words}</option>)}
          </select>
        )}
      </Field>
      <TextField label="Runs at most" type="number" min={1} max={500} required value={draft.sample}
        hint="The newest that have ended, in turns by graph, status and revision."
        change={(sample) => set({ sample })} />
      <TextField label="Seconds for one run" type="number" min={1} max={600} required
        value={draft.seconds} change={(seconds) => set({ seconds })} />
      <fieldset>
        <legend>Control</legend>
        <div className={form['checks']}>
          <label>
            <input type="checkbox" checked={draft.control}
              onChange={({ target }) => set({ control: target.checked })} />
            Replay the recorded revision first
          </label>
        </div>
        <p className={css['meta']}>
          A run that does not come out equal there is unstable, and counts in no verdict.
        </p>
      </fieldset>
    </>
  )
}

/** Asks before a run is started once more, on a copy of its thread. */

import { useMutation } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'

import type { Run } from '../../api/runs.ts'
import { namesDoneOutside } from '../../effects/effect-calls.ts'
import { useEffects } from '../../effects/effect-list.tsx'
import { AgainWarning } from '../../effects/repeated-effects.tsx'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Icon } from '../../parts/icon.tsx'
import css from '../../parts/form.module.css'
import { ErrorNotice } from '../../parts/notice.tsx'
import { runInCopy } from './copied-run.ts'

/** Button that asks. The question is in the address: a page of replays leads to it. */
export function RunInCopyButton({ threadId, run, locked }: {
  readonly threadId: string
  readonly run: Run
  readonly locked: { readonly disabled: boolean; readonly title: string | undefined }
}) {
  const { ask: asked }: { ask?: string | undefined } = useSearch({ strict: false })
  const navigate = useNavigate()
  const put = (ask?: 'copy') =>
    void navigate({ to: '.', replace: true, search: (old) => ({ ...old, ask }) })
  return (
    <>
      <Button small icon={<Icon name="copy" size={14} />} {...locked} onClick={() => put('copy')}>
        Run in a copy
      </Button>
      {asked === 'copy' && <CopyDialog threadId={threadId} run={run} close={() => put()} />}
    </>
  )
}

/** Dialog that makes the copy, starts the run, and leads there. */
function CopyDialog({ threadId, run, close }: {
  readonly threadId: string
  readonly run: Run
  readonly close: () => void
}) {
  const navigate = useNavigate()
  const work = useMutation({
    mutationFn: () => runInCopy(threadId, run),
    onSuccess: (id) => navigate({ to: '/threads/$id', params: { id }, search: {} }),
  })
  const { data: effects = [] } = useEffects(threadId, run)
  return (
    <Dialog open close={close} title="Run in a copy">
      <form className={css['form']} onSubmit={(event) => {
        event.preventDefault()
        work.mutate()
      }}>
        <p>
          The copy of the thread ends where this run began. The run starts there with the same input
          and settings, on the code that new runs get, and its calls are made. This thread stays as
          it is.
        </p>
        <AgainWarning names={namesDoneOutside(effects)} />
        {work.isError && <ErrorNotice error={work.error} />}
        <footer>
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" kind="primary" disabled={work.isPending}>Run in a copy</Button>
        </footer>
      </form>
    </Dialog>
  )
}

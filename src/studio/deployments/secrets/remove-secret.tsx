/** Asks before a secret is removed. */

import { useMutation, useQueryClient } from '@tanstack/react-query'

import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { ErrorNotice } from '../../parts/notice.tsx'
import { removeSecret } from '../../api/control/control.ts'
import css from '../parts/deployments.module.css'

/** Dialog that removes a secret of a deployment. */
export function RemoveSecret({ deployment, name, close }: {
  readonly deployment: string
  readonly name: string
  readonly close: () => void
}) {
  const cache = useQueryClient()
  const work = useMutation({
    mutationFn: () => removeSecret(deployment, name),
    onSuccess: close,
    onSettled: () => cache.invalidateQueries({ queryKey: ['deployments', deployment] }),
  })
  return (
    <Dialog open close={close} title={`Remove ${name}?`}>
      <div className={css['form']}>
        <p>Code of {deployment} does not find it any more, and nobody can read its value back.</p>
        {work.isError && <ErrorNotice error={work.error} retry={() => work.mutate()} />}
        <footer>
          <Button onClick={close}>Keep it</Button>
          <Button kind="danger" disabled={work.isPending} onClick={() => work.mutate()}>
            Remove
          </Button>
        </footer>
      </div>
    </Dialog>
  )
}

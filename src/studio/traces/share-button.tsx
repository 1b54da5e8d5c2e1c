/** Shares a trace with anybody who has the link, and takes the link back. */

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'

import { useRefusal } from '../api/refusal.ts'
import { sharedUrl, shareQuery, shareTrace, unshareTrace } from '../api/platform/shares.ts'
import { Button } from '../parts/button.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Icon } from '../parts/icon.tsx'
import { ErrorNotice, Notice } from '../parts/notice.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import css from './share.module.css'

/** The button, and its dialog. */
export function ShareButton({ traceId }: { readonly traceId: string }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button small icon={<Icon name="share" size={14} />} onClick={() => setOpen(true)}>
        Share
      </Button>
      {isOpen && (
        <Dialog open title="Share this trace" close={() => setOpen(false)}>
          <Share traceId={traceId} />
        </Dialog>
      )}
    </>
  )
}

function Share({ traceId }: { readonly traceId: string }) {
  const queries = useQueryClient()
  const asked = shareQuery(traceId)
  const share = useQuery(asked)
  const change = useMutation({
    mutationFn: async (token: string | null) => {
      if (token === null) return shareTrace(traceId)
      await unshareTrace(traceId)
      return null
    },
    onSuccess: (token) => queries.setQueryData(asked.queryKey, token),
  })
  const refusal = useRefusal('Your key may read, but share nothing.')
  const { data: token } = share
  if (token === undefined) {
    return share.isError
      ? <ErrorNotice error={share.error} retry={() => void share.refetch()} />
      : <Skeleton width="100%" height={32} />
  }
  return (
    <div className={css['share']}>
      {token === null
        ? <p>The trace is not shared: only people with a key of this workspace see it.</p>
        : (
          <>
            <Notice tone="waiting">
              Anybody who has this link reads all of the trace, with its inputs, outputs and
              attachments.
            </Notice>
            <div className={css['link']}>
              <a href={sharedUrl(token)} target="_blank" rel="noreferrer">{sharedUrl(token)}</a>
              <CopyButton text={sharedUrl(token)} label="Copy the link" />
            </div>
          </>
        )}
      {change.isError && <ErrorNotice error={change.error} />}
      <div className={css['acts']}>
        <Button kind={token === null ? 'primary' : 'danger'} title={refusal}
          disabled={refusal !== undefined || change.isPending} onClick={() => change.mutate(token)}
        >
          {token === null ? 'Make a link' : 'Take the link back'}
        </Button>
      </div>
    </div>
  )
}

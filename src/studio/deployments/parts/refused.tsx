/** Says who may see deployments and their replays, if it is not this caller. */

import { ApiError } from '../../api/client.ts'
import { Empty } from '../../parts/empty.tsx'
import { ErrorNotice } from '../../parts/notice.tsx'

/** The error, and the roles that see what is not shown. */
export function Refused({ error, retry, what }: {
  readonly error: unknown
  readonly retry: () => void
  /** Parts of a deployment that are not shown, as the beginning of a sentence. */
  readonly what?: string
}) {
  const { status = 0 } = error instanceof ApiError ? error : {}
  return (
    <>
      <ErrorNotice error={error} retry={retry} />
      {(status === 403 || (status === 404 && what === undefined)) && (
        <Empty title="Nothing is shown">
          <p>
            {what ?? 'Deployments'}{' '}
            are shown to keys with the role admin or deployer of their owner.
          </p>
        </Empty>
      )}
    </>
  )
}

/** Why a version was not saved; if others were quicker, it may be put on top of theirs. */

import { ApiError } from '../api/client.ts'
import { Button } from '../parts/button.tsx'
import { messageOf } from '../parts/error-message.ts'
import { Notice } from '../parts/notice.tsx'

/** The server's sentence, and the way out. */
export function SaveError({ error, onTop }: {
  readonly error: unknown
  readonly onTop: () => void
}) {
  const isStale = error instanceof ApiError && error.status === 409
  return (
    <Notice tone="failed">
      <p>{messageOf(error)}</p>
      {isStale && <Button small onClick={onTop}>Save on top of it</Button>}
    </Notice>
  )
}

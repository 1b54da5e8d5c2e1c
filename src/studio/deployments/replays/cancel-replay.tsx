/** The button that ends a replay. */

import { useMutation, useQueryClient } from '@tanstack/react-query'

import { cancelReplay, replayList } from '../../api/control/replays.ts'
import { Button } from '../../parts/button.tsx'
import { messageOf } from '../../parts/error-message.ts'

/** The button. Verdicts that were given stay. */
export function CancelReplay({ name, id, small = false }: {
  readonly name: string
  readonly id: string
  readonly small?: boolean
}) {
  const cache = useQueryClient()
  const work = useMutation({
    mutationFn: () => cancelReplay(name, id),
    onSettled: () => cache.invalidateQueries({ queryKey: replayList(name).queryKey }),
  })
  return (
    <>
      <Button small={small} disabled={work.isPending} onClick={() => work.mutate()}>Cancel</Button>
      {work.error !== null && <span role="alert">{messageOf(work.error)}</span>}
    </>
  )
}

/** The drawer of an example: what comes in, what should come out, its splits and its files. */

import { useQuery } from '@tanstack/react-query'

import { examplesById } from '../api/platform/examples.ts'
import { Dialog } from '../parts/dialog.tsx'
import { ErrorNotice, Notice } from '../parts/notice.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { ExampleForm } from './example-form.tsx'

/** The drawer; without an id it makes a new example. */
export function ExampleDrawer({ datasetId, id, asOf, refusal, close }: {
  readonly datasetId: string
  readonly id: string | undefined
  readonly asOf: string | undefined
  readonly refusal: string | undefined
  readonly close: () => void
}) {
  const found = useQuery({
    queryKey: ['datasets', datasetId, 'example', id, asOf],
    queryFn: async ({ signal }) => (await examplesById(datasetId, [id!], asOf, signal))[0] ?? null,
    enabled: id !== undefined,
    refetchOnWindowFocus: false,
    // A form that began with what was read before would write that over what came since.
    gcTime: 0,
  })
  return (
    <Dialog open close={close} side title={id === undefined ? 'New example' : 'Example'}>
      {id === undefined || found.data
        ? (
          <ExampleForm datasetId={datasetId} example={found.data ?? undefined} refusal={refusal}
            close={close} />
        )
        : found.data === null
        ? <Notice>This example is not there. It may have been deleted.</Notice>
        : found.isError
        ? <ErrorNotice error={found.error} retry={() => void found.refetch()} />
        : <Skeleton width="60%" height={14} />}
    </Dialog>
  )
}

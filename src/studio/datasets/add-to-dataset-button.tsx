/** The button that opens "Add to dataset" for a span, or for a run of this server. */

import { lazy, Suspense, useState } from 'react'

import { useRefusal } from '../api/refusal.ts'
import { placeOfSpan } from '../api/platform/traces.ts'
import type { SpanPlace } from '../api/platform/traces.ts'
import { Button } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { messageOf } from '../parts/error-message.ts'
import type { GivenExample } from './add-to-dataset.tsx'

const AddToDataset = lazy(async () => ({
  default: (await import('./add-to-dataset.tsx')).AddToDataset,
}))

/** The button. A project that is not known is asked for when it is pressed. */
export function AddToDatasetButton({ spanId, projectId, traceId, example, quiet = false }: {
  readonly spanId: string
  readonly projectId?: string
  readonly traceId?: string
  readonly example?: GivenExample
  readonly quiet?: boolean
}) {
  const refusal = useRefusal()
  const [place, setPlace] = useState<SpanPlace>()
  const [wrong, setWrong] = useState<string>()
  const open = async () => {
    try {
      setWrong(undefined)
      const project = projectId ?? (await placeOfSpan(spanId)).session_id
      setPlace({ projectId: project, spanId, traceId })
    } catch (error) {
      setWrong(messageOf(error))
    }
  }
  return (
    <>
      <Button small kind={quiet ? 'quiet' : 'plain'} icon={<Icon name="plus" size={14} />}
        disabled={refusal !== undefined} title={refusal} onClick={() => void open()}
      >
        Add to dataset
      </Button>
      {wrong !== undefined && <span role="alert">{wrong}</span>}
      {place !== undefined && (
        <Suspense>
          <AddToDataset place={place} example={example} close={() => setPlace(undefined)} />
        </Suspense>
      )}
    </>
  )
}

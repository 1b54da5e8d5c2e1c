/** From a span of a run of this server to its thread and its step, and to running it again. */

import { Link, useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'

import { useRefusal } from '../../api/refusal.ts'
import { ownStepOf, placeOfStep } from '../../api/platform/replay.ts'
import type { OwnStep } from '../../api/platform/replay.ts'
import type { Span } from '../../api/platform/traces.ts'
import { AddToDatasetButton } from '../../datasets/add-to-dataset-button.tsx'
import { Button, buttonClass } from '../../parts/button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { messageOf } from '../../parts/error-message.ts'
import css from './own-run-links.module.css'
import { messagesIn } from './span-messages.ts'

const ReplayDialog = lazy(async () => ({
  default: (await import('./replay-dialog.tsx')).ReplayDialog,
}))

const foreignWords = 'Only runs of this server can be run again: a client sent this trace.'

/** The links and acts. What somebody else ran cannot be run again, and it says so. */
export function OwnRunLinks({ span, hasDatasetAct }: {
  readonly span: Span
  readonly hasDatasetAct: boolean
}) {
  const refusal = useRefusal()
  const [asking, setAsking] = useState(false)
  const own = ownStepOf(span)
  return (
    <div className={css['links']}>
      {own !== null && (
        <>
          <Link to="/threads/$id" params={{ id: own.threadId }} search={{}}
            className={buttonClass('plain', true)}
          >
            <Icon name="threads" size={14} />
            Thread
          </Link>
          <OpenStep own={own} />
        </>
      )}
      <Button small icon={<Icon name="play" size={14} />} onClick={() => setAsking(true)}
        disabled={own === null || refusal !== undefined}
        title={own === null ? foreignWords : refusal}
      >
        Run again from here
      </Button>
      {span.run_type === 'LLM' && messagesIn(span.inputs) !== undefined && (
        <Link to="/playground" className={buttonClass('plain', true)}
          search={{ span: span.id, project: span.project_id, trace: span.trace_id }}
        >
          <Icon name="edit" size={14} />
          Open in playground
        </Link>
      )}
      {hasDatasetAct && (
        <AddToDatasetButton spanId={span.id} projectId={span.project_id} traceId={span.trace_id} />
      )}
      {asking && own !== null && (
        <Suspense>
          <ReplayDialog own={own} name={span.name} close={() => setAsking(false)} />
        </Suspense>
      )}
    </div>
  )
}

/** A span knows the number of its step; the thread knows the checkpoint that has it. */
function OpenStep({ own }: { readonly own: OwnStep }) {
  const navigate = useNavigate()
  const [wrong, setWrong] = useState<string>()
  const open = async () => {
    try {
      const place = await placeOfStep(own)
      if (place === null) return setWrong('The thread no longer has this step.')
      await navigate({ to: '/threads/$id', params: { id: own.threadId }, search: { at: place.at } })
    } catch (error) {
      setWrong(messageOf(error))
    }
  }
  return (
    <>
      <Button small icon={<Icon name="clock" size={14} />} onClick={() => void open()}>
        Open at this step
      </Button>
      {wrong !== undefined && <span role="alert">{wrong}</span>}
    </>
  )
}

/** From a span of a run of this server to its thread, and to the step that it led to. */

import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'

import { post } from '../../api/client.ts'
import type { Span } from '../../api/traces.ts'
import { Button, buttonClass } from '../../parts/button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { messageOf } from '../../parts/notice.tsx'
import css from './own-run-links.module.css'

/** The links; nothing for a span that somebody else sent. */
export function OwnRunLinks({ span }: { readonly span: Span }) {
  const { thread_id: threadId, run_id: runId, langgraph_step: step } = span.metadata ?? {}
  // The root of a run of this server has the id of that run.
  if (typeof threadId !== 'string' || typeof runId !== 'string' || runId !== span.trace_id) {
    return null
  }
  return (
    <div className={css['links']}>
      <Link to="/threads/$id" params={{ id: threadId }} search={{}}
        className={buttonClass('plain', true)}
      >
        <Icon name="threads" size={14} />
        Thread
      </Link>
      {typeof step === 'number' && <StepButton threadId={threadId} runId={runId} step={step} />}
    </div>
  )
}

/** A span knows the number of its step; the thread knows the checkpoint that has it. */
function StepButton({ threadId, runId, step }: {
  readonly threadId: string
  readonly runId: string
  readonly step: number
}) {
  const navigate = useNavigate()
  const [wrong, setWrong] = useState<string>()
  const open = async () => {
    try {
      const [state] = await post<{ readonly checkpoint_id: string }[]>(
        `/threads/${threadId}/history`,
        { limit: 1, metadata: { run_id: runId, step }, select: ['checkpoint_id'] },
      )
      if (state === undefined) return setWrong('The thread no longer has this step.')
      await navigate({ to: '/threads/$id', params: { id: threadId },
        search: { at: state.checkpoint_id } })
    } catch (error) {
      setWrong(messageOf(error))
    }
  }
  return (
    <>
      <Button small onClick={() => void open()}>Step {step}</Button>
      {wrong !== undefined && <span role="alert">{wrong}</span>}
    </>
  )
}

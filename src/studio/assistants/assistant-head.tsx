/** The head of an assistant's page: its name, its marks, and the actions on the shown version. */

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'

import type { Assistant } from '../../api/index.ts'
import { activateVersion, contentIn } from '../api/assistant-versions.ts'
import { createThread } from '../api/threads.ts'
import { RunExperimentButton } from '../experiments/run-experiment-button.tsx'
import { Button, buttonClass } from '../parts/button.tsx'
import { Chip } from '../parts/chip.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { Icon } from '../parts/icon.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { TimeText } from '../parts/times/time-text.tsx'
import css from './assistants.module.css'
import { isMadeWithGraph } from './changes.ts'
import { keepTrial } from './trial.ts'

/** An assistant with its shown version, and how its dialogs open. */
export interface AssistantHeadProps {
  readonly assistant: Assistant
  /** The version that the page shows. */
  readonly shown: Assistant
  readonly open: (act: 'edit' | 'delete') => void
  /** The reason why this caller may change nothing. */
  readonly refusal: string | undefined
}

/** Name, marks and actions of an assistant. */
export function AssistantHead({ assistant, shown, open, refusal }: AssistantHeadProps) {
  const { assistant_id: id } = assistant
  return (
    <header className={css['head']}>
      <div className={css['title']}>
        <Link to="/assistants" search={{}} aria-label="All assistants" title="All assistants"
          className={`${buttonClass('quiet', false, true)} ${css['back']}`}
        >
          <Icon name="back" />
        </Link>
        <h2 id="assistant-name" dir="auto" title={shown.name}>{shown.name || 'No name'}</h2>
        {isMadeWithGraph(assistant) && <Chip>made with the graph</Chip>}
      </div>
      <p className={css['meta']}>
        <span dir="auto">{shown.graph_id}</span>
        <code title={id}>{id.slice(0, 8)}…{id.slice(-6)}</code>
        <CopyButton text={id} label="Copy the id" />
        <span>
          changed <TimeText iso={shown.updated_at} />
        </span>
      </p>
      {shown.description && <p dir="auto" className={css['words']}>{shown.description}</p>}
      <Actions assistant={assistant} shown={shown} open={open} refusal={refusal} />
    </header>
  )
}

function Actions({ assistant, shown, open, refusal }: AssistantHeadProps) {
  const isActive = shown.version === assistant.version
  const isRefused = refusal !== undefined
  const activate = useActivate(assistant.assistant_id)
  const trial = useTrial(shown, isActive)
  const error = activate.error ?? trial.error
  return (
    <>
      <div className={css['acts']}>
        <Button kind="primary" icon={<Icon name="play" />} title={refusal}
          disabled={isRefused || trial.isPending} onClick={() => trial.mutate()}
        >
          Try v{shown.version}
        </Button>
        <RunExperimentButton start={{ assistant: assistant.assistant_id }} />
        {!isActive && (
          <Button disabled={isRefused || activate.isPending} title={refusal} onClick={() =>
            activate.mutate(shown.version)}
          >
            Make v{shown.version} active
          </Button>
        )}
        <Button icon={<Icon name="edit" />} disabled={isRefused} title={refusal}
          onClick={() => open('edit')}
        >
          Edit
        </Button>
        <Button kind="quiet" icon={<Icon name="trash" />} disabled={isRefused} title={refusal}
          onClick={() => open('delete')}
        >
          Delete
        </Button>
      </div>
      {error !== null && <ErrorNotice error={error} />}
    </>
  )
}

function useActivate(id: string) {
  const client = useQueryClient()
  return useMutation({ mutationFn: (version: number) => activateVersion(id, version),
    onSuccess: () => client.invalidateQueries({ queryKey: ['assistants'] }) })
}

/** Makes a thread that runs the shown version, and goes to it. */
function useTrial(shown: Assistant, isActive: boolean) {
  const navigate = useNavigate()
  return useMutation({
    mutationFn: async () => {
      const { thread_id: thread } = await createThread({ assistant_id: shown.assistant_id,
        graph_id: shown.graph_id })
      const { context, config } = contentIn(shown)
      if (!isActive) keepTrial(thread, { context, config })
      return thread
    },
    onSuccess: (thread) => navigate({ to: '/threads/$id', params: { id: thread }, search: {} }),
  })
}

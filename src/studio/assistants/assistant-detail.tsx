/** One assistant: its versions, what the shown one changed, and its settings. */

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'

import type { Assistant } from '../../api/index.ts'
import { activateVersion, assistantVersions, contentIn } from '../api/assistant-versions.ts'
import { graphPicture } from '../api/assistants.ts'
import { createThread } from '../api/threads.ts'
import { Button, buttonClass } from '../parts/button.tsx'
import { Chip } from '../parts/chip.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { Icon } from '../parts/icon.tsx'
import { JsonTree } from '../json/json-tree.tsx'
import { ErrorNotice, Notice } from '../parts/notice.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { TimeText } from '../parts/time-text.tsx'
import type { AssistantListSearch } from '../addresses/assistants.ts'
import css from './assistants.module.css'
import { isMadeWithGraph } from './changes.ts'
import { keepTrial } from './trial.ts'
import { VersionChanges } from './version-changes.tsx'

const GraphView = lazy(async () => ({
  default: (await import('../graph/graph-view.tsx')).GraphView,
}))
const AssistantEditor = lazy(async () => ({
  default: (await import('./assistant-editor.tsx')).AssistantEditor,
}))
const DeleteAssistant = lazy(async () => ({
  default: (await import('./delete-assistant.tsx')).DeleteAssistant,
}))

/** An assistant, and where the page may go. */
export interface AssistantDetailProps {
  readonly assistant: Assistant
  readonly search: AssistantListSearch
  readonly go: (next: AssistantListSearch, replace?: boolean) => void
  /** The reason why this caller may change nothing. */
  readonly refusal: string | undefined
  /** Why the graph does not load. */
  readonly loadError: string | undefined
}

/** An assistant in full: its settings, its versions, its graph and its actions. */
export function AssistantDetail(
  { assistant, search, go, refusal, loadError }: AssistantDetailProps,
) {
  const { assistant_id: id } = assistant
  const versions = useQuery(assistantVersions(id))
  const client = useQueryClient()
  const navigate = useNavigate()
  const refresh = () => client.invalidateQueries({ queryKey: ['assistants'] })
  const activate = useMutation({ mutationFn: (version: number) => activateVersion(id, version),
    onSuccess: refresh })
  const shown = versions.data?.find(({ version }) => version === search.version) ?? assistant
  const isActive = shown.version === assistant.version
  const tried = useMutation({
    mutationFn: async () => {
      const { thread_id: thread } = await createThread({ assistant_id: id,
        graph_id: shown.graph_id })
      const { context, config } = contentIn(shown)
      if (!isActive) keepTrial(thread, { context, config })
      return thread
    },
    onSuccess: (thread) => navigate({ to: '/threads/$id', params: { id: thread }, search: {} }),
  })
  const error = activate.error ?? tried.error
  const close = () => go({ ...search, act: undefined })
  return (
    <article className={css['assistant']} aria-labelledby="assistant-name">
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
        <div className={css['acts']}>
          <Button kind="primary" icon={<Icon name="play" />} title={refusal}
            disabled={refusal !== undefined || tried.isPending} onClick={() => tried.mutate()}
          >
            Try v{shown.version}
          </Button>
          {!isActive && (
            <Button disabled={refusal !== undefined || activate.isPending} title={refusal}
              onClick={() => activate.mutate(shown.version)}
            >
              Make v{shown.version} active
            </Button>
          )}
          <Button icon={<Icon name="edit" />} disabled={refusal !== undefined} title={refusal}
            onClick={() => go({ ...search, act: 'edit' })}
          >
            Edit
          </Button>
          <Button kind="quiet" icon={<Icon name="trash" />} disabled={refusal !== undefined}
            title={refusal} onClick={() => go({ ...search, act: 'delete' })}
          >
            Delete
          </Button>
        </div>
        {error !== null && <ErrorNotice error={error} />}
      </header>
      {loadError !== undefined && (
        <Notice tone="failed">
          <p>This graph does not load.</p>
          <p>{loadError}</p>
        </Notice>
      )}
      <section aria-labelledby="versions">
        <h3 id="versions">Versions</h3>
        {versions.isPending && <Skeleton width={220} height={30} />}
        {versions.isError && (
          <ErrorNotice error={versions.error} retry={() => void versions.refetch()} />
        )}
        {versions.data !== undefined && (
          <>
            <Versions versions={versions.data} active={assistant.version} shown={shown.version}
              choose={(version) => go({ id, version })} />
            <VersionChanges versions={versions.data} shown={shown} vs={search.vs} choose={(vs) =>
              go({ ...search, vs }, true)} />
          </>
        )}
      </section>
      <Settings shown={shown} />
      <Picture id={id} error={loadError} />
      <Suspense>
        {search.act === 'edit' && (
          <AssistantEditor graphs={[shown.graph_id]} graph={shown.graph_id} from={shown}
            newest={Math.max(shown.version, ...(versions.data ?? []).map((each) => each.version))}
            close={close} saved={(saved) => go({ id: saved.assistant_id })} />
        )}
        {search.act === 'delete' && (
          <DeleteAssistant assistant={assistant} versions={versions.data?.length} close={close}
            deleted={() => go({})} />
        )}
      </Suspense>
    </article>
  )
}

/** A button for each version, newest first; the active one is marked. */
function Versions({ versions, active, shown, choose }: {
  readonly versions: readonly Assistant[]
  readonly active: number
  readonly shown: number
  readonly choose: (version: number) => void
}) {
  return (
    <div className={css['versions']} role="group" aria-labelledby="versions">
      {versions.map(({ version }) => (
        <button key={version} type="button" aria-pressed={version === shown}
          onClick={() => choose(version)}
        >
          v{version}
          {version === active && <span className={css['active']}>active</span>}
        </button>
      ))}
    </div>
  )
}

function Settings({ shown }: { readonly shown: Assistant }) {
  const parts = [['Context', shown.context], ['Config', shown.config], ['Metadata',
    shown.metadata]] as const
  return (
    <section aria-labelledby="settings" className={css['settings']}>
      <h3 id="settings">Settings of v{shown.version}</h3>
      {parts.map(([name, value]) => (
        <div key={name}>
          <h4>{name}</h4>
          {Object.keys(value ?? {}).length === 0
            ? <p className={css['none']}>Nothing is set.</p>
            : <JsonTree value={value} name={name} open={2} height={12} />}
        </div>
      ))}
    </section>
  )
}

function Picture({ id, error }: { readonly id: string; readonly error: string | undefined }) {
  const picture = useQuery(graphPicture(id))
  return (
    <section aria-labelledby="picture" className={css['picture']}>
      <h3 id="picture">Graph</h3>
      {picture.isError
        ? error === undefined && (
          <ErrorNotice error={picture.error} retry={() => void picture.refetch()} />
        )
        : (
          <div className={css['frame']}>
            <Suspense fallback={<Skeleton width="100%" height={320} />}>
              <GraphView assistantId={id} nodes={noNodes} choose={ignore} />
            </Suspense>
          </div>
        )}
    </section>
  )
}

const noNodes = {}
const ignore = () => {}

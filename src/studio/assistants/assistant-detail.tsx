/** One assistant: its versions, what the shown one changed, and its settings. */

import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'

import type { Assistant } from '../../api/index.ts'
import { assistantVersions } from '../api/assistant-versions.ts'
import { graphPicture } from '../api/assistants.ts'
import { JsonTree } from '../json/json-tree.tsx'
import { ErrorNotice, Notice } from '../parts/notice.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import type { AssistantListSearch } from '../addresses/assistants.ts'
import { AssistantHead } from './assistant-head.tsx'
import css from './assistants.module.css'
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
  const shown = versions.data?.find(({ version }) => version === search.version) ?? assistant
  return (
    <article className={css['assistant']} aria-labelledby="assistant-name">
      <AssistantHead assistant={assistant} shown={shown} refusal={refusal}
        open={(act) => go({ ...search, act })} />
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
        <OpenDialog assistant={assistant} shown={shown} versions={versions.data} search={search}
          go={go} />
      </Suspense>
    </article>
  )
}

/** The dialog that the address names, if any. */
function OpenDialog({ assistant, shown, versions, search, go }:
  & Pick<AssistantDetailProps, 'assistant' | 'search' | 'go'>
  & { readonly shown: Assistant; readonly versions: readonly Assistant[] | undefined }) {
  const close = () => go({ ...search, act: undefined })
  if (search.act === 'edit') {
    return (
      <AssistantEditor graphs={[shown.graph_id]} graph={shown.graph_id} from={shown} close={close}
        newest={Math.max(shown.version, ...(versions ?? []).map((each) => each.version))}
        saved={(saved) => go({ id: saved.assistant_id })} />
    )
  }
  if (search.act !== 'delete') return null
  return (
    <DeleteAssistant assistant={assistant} versions={versions?.length} close={close}
      deleted={() => go({})} />
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

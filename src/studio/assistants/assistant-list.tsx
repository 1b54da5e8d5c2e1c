/** Assistants: by graph at the left, and one of them with its versions at the right. */

import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'

import type { Assistant } from '../../api/index.ts'
import { assistantList } from '../api/assistants.ts'
import { useRefusal } from '../api/refusal.ts'
import { serverInfo, whoAmI } from '../api/server.ts'
import { counted } from '../parts/amounts.ts'
import { Button } from '../parts/button.tsx'
import { Chip } from '../parts/chip.tsx'
import { Empty } from '../parts/empty.tsx'
import { Icon } from '../parts/icon.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { PageHead } from '../parts/page-head.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { useKeys } from '../parts/keys.ts'
import type { AssistantListSearch } from '../addresses/assistants.ts'
import { AssistantDetail } from './assistant-detail.tsx'
import css from './assistants.module.css'
import { byGraph, isMadeWithGraph } from './changes.ts'
import type { GraphGroup } from './changes.ts'

const AssistantEditor = lazy(async () => ({
  default: (await import('./assistant-editor.tsx')).AssistantEditor,
}))

/** Page of the assistants: a list by graph, and the chosen one. */
export function AssistantList() {
  const search = useSearch({ from: '/assistants' })
  const navigate = useNavigate()
  const go = (next: AssistantListSearch, replace = false) =>
    void navigate({ to: '/assistants', search: next, replace })
  const list = useQuery(assistantList)
  const { data: info } = useQuery(serverInfo)
  const { data: caller } = useQuery(whoAmI)
  const refusal = useRefusal('Your key may read, and change nothing.')
  // Headings alone, before their assistants, would be a list that no key scrolls.
  const groups = list.isPending
    ? []
    : byGraph(list.data ?? [], info?.graphs ?? caller?.graphs ?? [])
  const shown = list.data?.find(({ assistant_id: id }) => id === search.id)
  useListKeys(groups, search, go)
  const graphs = groups.map(({ graphId }) => graphId)
  return (
    <>
      <PageHead title="Assistants" aside={list.data && counted(list.data.length, 'assistant')}
        acts={
          <Button kind="primary" icon={<Icon name="plus" />} disabled={refusal !== undefined}
            title={refusal} onClick={() => go({ ...search, act: 'new' })}
          >
            New assistant
          </Button>
        } />
      <div className={`${css['columns']} ${search.id === undefined ? '' : css['hasDetail']}`}>
        <nav className={css['list']} aria-label="Assistants by graph">
          {list.isPending && <ListSkeleton />}
          {list.isError && (
            <div className={css['pad']}>
              <ErrorNotice error={list.error} retry={() => void list.refetch()} />
            </div>
          )}
          {groups.map((group) => <Group key={group.graphId} group={group} chosen={search.id} />)}
        </nav>
        <div className={css['detail']}>
          {shown !== undefined
            ? (
              <AssistantDetail key={shown.assistant_id} assistant={shown} search={search} go={go}
                refusal={refusal}
                loadError={groups.find(({ graphId }) => graphId === shown.graph_id)?.error} />
            )
            : list.isSuccess && <NothingShown isEmpty={list.data.length === 0} id={search.id} />}
        </div>
      </div>
      {search.act === 'new' && list.isSuccess && (
        <Suspense>
          <AssistantEditor graphs={graphs} graph={search.graph ?? shown?.graph_id} close={() =>
            go({ ...search, act: undefined, graph: undefined })} saved={({ assistant_id: id }) =>
            go({ id })} />
        </Suspense>
      )}
    </>
  )
}

function NothingShown({ isEmpty, id }: {
  readonly isEmpty: boolean
  readonly id: string | undefined
}) {
  if (isEmpty) {
    return (
      <Empty title="No graph is served">
        <p>
          Name one in <code>langgraph.json</code>: it has an assistant from the start.
        </p>
      </Empty>
    )
  }
  return id === undefined
    ? (
      <Empty title="Choose an assistant">
        <p>An assistant is a graph with settings. Each change of them is a version.</p>
      </Empty>
    )
    : (
      <Empty title="This assistant does not exist">
        <p>
          It may have been deleted. <Link to="/assistants" search={{}}>Show all</Link>
        </p>
      </Empty>
    )
}

function Group({ group: { graphId, error, assistants }, chosen }: {
  readonly group: GraphGroup
  readonly chosen: string | undefined
}) {
  return (
    <section aria-label={graphId}>
      <h2 dir="auto" title={graphId}>{graphId}</h2>
      {error !== undefined && (
        <p className={css['loadError']}>
          <Icon name="close" size={12} /> <span>Does not load</span>
        </p>
      )}
      <ul>
        {assistants.map((each) => (
          <li key={each.assistant_id}>
            <Row assistant={each} isChosen={each.assistant_id === chosen} />
          </li>
        ))}
      </ul>
    </section>
  )
}

function Row({ assistant, isChosen }: {
  readonly assistant: Assistant
  readonly isChosen: boolean
}) {
  const { assistant_id: id, name, version } = assistant
  return (
    <Link to="/assistants" search={{ id }} className={css['row']}
      aria-current={isChosen ? 'page' : undefined}
    >
      <span dir="auto" title={name}>{name === '' ? 'No name' : name}</span>
      {isMadeWithGraph(assistant) && (
        <Chip title="Every graph has one from the start">
          default
        </Chip>
      )}
      <span className={css['version']}>v{version}</span>
    </Link>
  )
}

function ListSkeleton() {
  return (
    <div className={css['pad']} role="status" aria-label="Loading">
      {[120, 160, 90, 140].map((width) => <Skeleton key={width} width={width} height={16} />)}
    </div>
  )
}

/** `j` and `k` go through the assistants in the order of the list. */
function useListKeys(groups: readonly GraphGroup[], search: AssistantListSearch,
  go: (next: AssistantListSearch, replace: boolean) => void): void {
  const ids = groups.flatMap(({ assistants }) => assistants.map((each) => each.assistant_id))
  const move = (step: number) => {
    const at = ids.indexOf(search.id ?? '')
    const next = at === -1 ? ids[0] : ids[Math.min(Math.max(at + step, 0), ids.length - 1)]
    if (next !== undefined) go({ id: next }, true)
  }
  useKeys('Assistants', {
    j: { words: 'Next assistant', act: () => move(1) },
    k: { words: 'Assistant before', act: () => move(-1) },
    n: { words: 'New assistant', act: () => go({ ...search, act: 'new' }, false) },
  })
}

/** The projects of traces, each with its numbers. Names are there before the numbers are. */

import { useInfiniteQuery, useQueries, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useMemo, useRef, useState } from 'react'

import { assistantList } from '../api/assistants.ts'
import { projectPage, projectsAtOnce } from '../api/platform/projects.ts'
import type { Project } from '../api/platform/projects.ts'
import { Empty } from '../parts/empty.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { useListKeys } from './list-keys.ts'
import css from './project-list.module.css'
import { ProjectRow } from './project-row.tsx'
import { ListPage, NoMatch } from '../rows/list-page.tsx'

const columns = ['Project', 'Traces', 'Failed', 'p50', 'p99', 'Tokens', 'Cost', 'Last trace']

/** Page of the tracing projects, with a search by name. */
export function ProjectList() {
  const { q = '' } = useSearch({ from: '/traces' })
  const navigate = useNavigate()
  const { projects, stats, own, total, names } = useProjects(q)
  return (
    <ListPage title="Traces" noun="project" total={total}
      search={{ q, filter: (q) => void navigate({ to: '/traces', search: { q }, replace: true }) }}
    >
      {names.isError && projects.length === 0
        ? (
          <div className={css['notice']}>
            <ErrorNotice error={names.error} retry={() => void names.refetch()} />
          </div>
        )
        : names.isSuccess && projects.length === 0
        ? <NoProjects isFiltered={q !== ''} />
        : (
          <Projects projects={projects} stats={stats} own={own} total={total ?? 12}
            more={() => void (names.hasNextPage && !names.isFetching && names.fetchNextPage())} />
        )}
    </ListPage>
  )
}

function useProjects(q: string) {
  const names = useInfiniteQuery({
    queryKey: ['projects', 'names', q],
    queryFn: ({ pageParam, signal }) => projectPage(q, pageParam, false, signal),
    initialPageParam: 0,
    getNextPageParam: ({ total }, pages) =>
      pages.length * projectsAtOnce < total ? pages.length * projectsAtOnce : undefined,
  })
  const pages = names.data?.pages ?? []
  const stats = useQueries({
    queries: pages.map((_, index) => ({
      queryKey: ['projects', 'stats', q, index],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        projectPage(q, index * projectsAtOnce, true, signal),
      staleTime: 20_000,
    })),
    combine: (answers) =>
      new Map(
        answers.flatMap(({ data }) =>
          data?.projects.map((project) => [project.id, project] as const) ?? []
        ),
      ),
  })
  const { data: assistants } = useQuery(assistantList)
  const own = useMemo(() => new Set(assistants?.map(({ graph_id: graph }) => graph)), [assistants])
  // Own runs first, page by page: rows that are seen do not move when more come.
  const projects = useMemo(() =>
    names.data?.pages.flatMap(({ projects: page }) => [
      ...page.filter(({ name }) => own.has(name)),
      ...page.filter(({ name }) => !own.has(name)),
    ]) ?? [], [names.data, own])
  return { projects, stats, own, names, total: pages[0]?.total }
}

function Projects({ projects, stats, own, total, more }: {
  readonly projects: readonly Project[]
  readonly stats: ReadonlyMap<string, Project>
  readonly own: ReadonlySet<string>
  readonly total: number
  readonly more: () => void
}) {
  const navigate = useNavigate()
  const box = useRef<HTMLDivElement>(null)
  const [active, setActive] = useState(0)
  const list = useVirtualizer({ count: Math.max(projects.length, Math.min(total, 12)), overscan: 6,
    getScrollElement: () => box.current,
    estimateSize: () => matchMedia('(max-width: 719px)').matches ? 60 : 44 })
  const rows = list.getVirtualItems()
  const last = rows.at(-1)?.index ?? 0
  useEffect(() => {
    if (projects.length > 0 && last >= projects.length - 20) more()
  }, [last, projects.length, more])
  const open = (index: number) => {
    const project = projects[index]
    if (project === undefined) return
    void navigate({ to: '/traces/$project', params: { project: project.id }, search: {} })
  }
  const move = (index: number) => {
    setActive(index)
    list.scrollToIndex(index)
  }
  const onKeyDown = useListKeys({ title: 'Projects', count: projects.length, active, box, move,
    open })
  return (
    <div className={css['grid']} role="grid" aria-label="Projects" aria-rowcount={total + 1}
      tabIndex={0} aria-activedescendant={projects.length > 0 ? `project-${active}` : undefined}
      ref={box} onKeyDown={onKeyDown}
    >
      <div role="rowgroup" className={css['head']}>
        <div role="row" aria-rowindex={1} className={css['columns']}>
          {columns.map((name) => <span role="columnheader" key={name}>{name}</span>)}
        </div>
      </div>
      <div role="rowgroup" className={css['body']} style={{ height: list.getTotalSize() }}>
        {rows.map(({ index, start, size }) => {
          const project = projects[index]
          return (
            <ProjectRow key={project?.id ?? index} index={index} top={start} height={size}
              project={project} stats={project && stats.get(project.id)}
              isOwn={project !== undefined && own.has(project.name)} isActive={index === active} />
          )
        })}
      </div>
    </div>
  )
}

function NoProjects({ isFiltered }: { readonly isFiltered: boolean }) {
  return isFiltered
    ? <NoMatch noun="project" />
    : (
      <Empty title="No traces yet">
        <p>
          Each run of this server leaves a trace. Programs with a LangSmith client or OpenTelemetry
          may send theirs, too.
        </p>
        <code>LANGSMITH_ENDPOINT={new URL('../api/v1', document.baseURI).href}</code>
      </Empty>
    )
}

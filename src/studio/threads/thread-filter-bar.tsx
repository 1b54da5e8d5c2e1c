/** Filters and order of the list of threads: words, state, graph, time. */

import { useQuery } from '@tanstack/react-query'

import { countsQuery } from '../api/threads.ts'
import type { ThreadFilter } from '../api/threads.ts'
import { count } from '../parts/amounts.ts'
import { Select } from '../parts/field.tsx'
import { SearchBox } from '../rows/search-box.tsx'
import { StatusGlyph, statusOf, statusWords } from '../parts/status.tsx'
import { threadStates } from '../addresses/threads.ts'
import type { ThreadListSearch } from '../addresses/threads.ts'
import { GraphSelect, SpanSelect } from './filter-selects.tsx'
import css from './thread-filter-bar.module.css'

/** The bar. `change` puts what differs into the address. */
export function ThreadFilterBar({ search, filter, change }: {
  readonly search: ThreadListSearch
  readonly filter: ThreadFilter
  readonly change: (part: Partial<ThreadListSearch>) => void
}) {
  return (
    <div className={css['bar']}>
      <SearchBox label="Filter threads" hint="Words, id, user:ada …" value={search.q ?? ''}
        change={(q) => change({ q: q === '' ? undefined : q })} />
      <div className={css['choices']}>
        <StatusButtons search={search} filter={filter} change={change} />
        <div className={css['selects']}>
          <GraphSelect value={search.graph} change={(graph) => change({ graph })} />
          <SpanSelect label="Updated" value={search.since} change={(since) => change({ since })} />
          <Select aria-label="Sort by" value={search.sort ?? ''} onChange={({ target }) =>
            change({
              sort: target.value === '' ? undefined : target.value as ThreadListSearch['sort'],
            })}
          >
            <option value="">Last updated</option>
            <option value="created">Newest</option>
            <option value="updated-asc">First updated</option>
            <option value="created-asc">Oldest</option>
          </Select>
        </div>
      </div>
    </div>
  )
}

function StatusButtons({ search, filter, change }: Parameters<typeof ThreadFilterBar>[0]) {
  const { status: _, ...rest } = filter
  const { data } = useQuery({ ...countsQuery(rest), placeholderData: (before) => before })
  return (
    <div role="group" aria-label="State" className={css['states']}>
      {threadStates.map((state) => (
        <button key={state} type="button" aria-pressed={search.status === state} onClick={() =>
          change({ status: search.status === state ? undefined : state })}
        >
          <StatusGlyph status={statusOf(state)} size={12} />
          {statusWords(statusOf(state))}
          <span className={css['count']}>{data === undefined ? '' : count(data[state])}</span>
        </button>
      ))}
    </div>
  )
}

/** Filters of the list of runs: state, graph, time. */

import { runStatusOf, StatusGlyph, statusWords } from '../parts/status.tsx'
import { GraphSelect, SpanSelect } from '../threads/filter-selects.tsx'
import css from '../threads/thread-filter-bar.module.css'
import { runStates } from '../addresses/runs.ts'
import type { RunListSearch } from '../addresses/runs.ts'

/** The bar. `change` puts what differs into the address. */
export function RunFilterBar({ search, change }: {
  readonly search: RunListSearch
  readonly change: (part: Partial<RunListSearch>) => void
}) {
  return (
    <div className={css['bar']}>
      <div className={css['choices']}>
        <div role="group" aria-label="State" className={css['states']}>
          {runStates.map((state) => (
            <button key={state} type="button" aria-pressed={search.status === state} onClick={() =>
              change({ status: search.status === state ? undefined : state })}
            >
              <StatusGlyph status={runStatusOf(state)} size={12} />
              {state === 'timeout' ? 'Timed out' : statusWords(runStatusOf(state))}
            </button>
          ))}
        </div>
        <div className={css['selects']}>
          <GraphSelect value={search.graph} change={(graph) => change({ graph })} />
          <SpanSelect label="Created" value={search.since} change={(since) => change({ since })} />
        </div>
      </div>
    </div>
  )
}

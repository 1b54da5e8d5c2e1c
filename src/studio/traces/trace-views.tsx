/** The dialog of saved views of the lists of traces: each holds for all projects. */

import { Link } from '@tanstack/react-router'

import type { SavedList } from '../addresses/saved-views.ts'
import { readProjectSearch } from '../addresses/traces.ts'
import type { ProjectSearch } from '../addresses/traces.ts'
import { ViewsDialog } from '../rows/views-dialog.tsx'
import { writeColumns } from './columns/columns.ts'
import type { Column } from './columns/columns.ts'

const traceViews: SavedList<ProjectSearch> = { storageKey: 'studio.views.traces',
  read: readProjectSearch }

/** Dialog with the views of traces. The trace that is looked at is no part of one. */
export function TraceViews({ projectId, search, columns, close }: {
  readonly projectId: string
  readonly search: ProjectSearch
  /** Columns that are shown, also those that no address has. */
  readonly columns: readonly Column[]
  readonly close: () => void
}) {
  return (
    <ViewsDialog list={traceViews} close={close}
      search={{ ...search, peek: undefined, cols: writeColumns(columns) }}
      link={(view) => (
        <Link to="/traces/$project" params={{ project: projectId }} search={view.search}
          onClick={close} dir="auto"
        >
          {view.name}
        </Link>
      )} />
  )
}

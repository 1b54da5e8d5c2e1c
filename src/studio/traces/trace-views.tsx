/** The dialog of saved views of the lists of traces: each holds for all projects. */

import { Link } from '@tanstack/react-router'

import type { SavedList } from '../addresses/saved-views.ts'
import { readProjectSearch } from '../addresses/traces.ts'
import type { ProjectSearch } from '../addresses/traces.ts'
import { ViewsDialog } from '../rows/views-dialog.tsx'

const traceViews: SavedList<ProjectSearch> = { storageKey: 'studio.views.traces',
  read: readProjectSearch }

/** Dialog with the views of traces. The trace that is looked at is no part of one. */
export function TraceViews({ projectId, search, close }: {
  readonly projectId: string
  readonly search: ProjectSearch
  readonly close: () => void
}) {
  return (
    <ViewsDialog list={traceViews} search={{ ...search, peek: undefined }} close={close}
      link={(view) => (
        <Link to="/traces/$project" params={{ project: projectId }} search={view.search}
          onClick={close} dir="auto"
        >
          {view.name}
        </Link>
      )} />
  )
}

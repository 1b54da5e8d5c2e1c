/** The dialog of saved views of the list of threads. */

import { Link } from '@tanstack/react-router'

import { threadListViews } from '../addresses/saved-views.ts'
import type { ThreadListSearch } from '../addresses/threads.ts'
import { ViewsDialog } from '../rows/views-dialog.tsx'

/** Dialog with the views of threads. */
export function ThreadViews({ search, close }: {
  readonly search: ThreadListSearch
  readonly close: () => void
}) {
  return (
    <ViewsDialog list={threadListViews} search={search} close={close}
      link={(view) => (
        <Link to="/threads" search={view.search} onClick={close} dir="auto">{view.name}</Link>
      )} />
  )
}

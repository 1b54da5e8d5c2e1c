/** Threads. */

import { PageHead } from '../parts/page-head.tsx'

/** The page. */
export function ThreadList() {
  return <PageHead title="Threads" />
}

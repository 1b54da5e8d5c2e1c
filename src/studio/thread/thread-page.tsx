/** Thread. */

import { PageHead } from '../parts/page-head.tsx'

/** The page. */
export function ThreadPage() {
  return <PageHead title="Thread" />
}

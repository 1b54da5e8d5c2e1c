/** Inbox. */

import { PageHead } from '../parts/page-head.tsx'

/** The page. */
export function Inbox() {
  return <PageHead title="Inbox" />
}

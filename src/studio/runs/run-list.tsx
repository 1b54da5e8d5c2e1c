/** Runs. */

import { PageHead } from '../parts/page-head.tsx'

/** The page. */
export function RunList() {
  return <PageHead title="Runs" />
}

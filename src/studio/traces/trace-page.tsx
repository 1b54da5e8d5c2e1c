/** Trace. */

import { PageHead } from '../parts/page-head.tsx'

/** The page. */
export function TracePage() {
  return <PageHead title="Trace" />
}

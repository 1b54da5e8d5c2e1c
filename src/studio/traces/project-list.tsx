/** Traces. */

import { PageHead } from '../parts/page-head.tsx'

/** The page. */
export function ProjectList() {
  return <PageHead title="Traces" />
}
